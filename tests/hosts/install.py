"""Install the real hosts that the tests run: Pi and its Node, at pinned versions, into ``.hosts/``.

    python -m tests.hosts.install [VERSION ...]

Needs npm (of any Node). It may be run again: what is there already is left alone, and ``.hosts/`` can be deleted.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

HOSTS = Path(__file__).resolve().parents[2] / ".hosts"
PI_VERSION = os.environ.get("PERSONA_TEST_PI", "1.6.0")
"""The Pi that tests run; ``PERSONA_TEST_PI=1.5.0`` names another one."""
OLDEST_PI = "1.4.0"
"""The oldest one that we support; the conformance suite runs it as well."""
NODE_VERSION = "22.23.3"
TYPESCRIPT_VERSION = "5.9.3"

_SYSTEMS = {"Linux": "linux", "Darwin": "darwin", "Windows": "win"}
_MACHINES = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64", "aarch64": "arm64"}


def node_package() -> str:
    """Return the npm package that is this machine's Node binary."""
    try:
        return f"node-{_SYSTEMS[platform.system()]}-{_MACHINES[platform.machine()]}"
    except KeyError:
        sys.exit(f"There is no Node package for {platform.system()} on {platform.machine()}; use a known machine.")


def folder(pi: str = PI_VERSION) -> Path:
    """Return where one version of Pi is installed, with the Node that runs it."""
    return HOSTS / f"pi-{pi}"


def node(pi: str = PI_VERSION) -> Path:
    """Return the Node binary."""
    name = "node.exe" if platform.system() == "Windows" else "node"
    return folder(pi) / "node_modules" / node_package() / "bin" / name


def pi_program(pi: str = PI_VERSION) -> Path:
    """Return Pi's program, to be run with ``node``."""
    return folder(pi) / "node_modules" / "@earendil-works" / "pi-coding-agent" / "dist" / "bundle" / "cli.js"


def typescript(pi: str = PI_VERSION) -> Path:
    """Return the TypeScript compiler, to be run with ``node``."""
    return folder(pi) / "node_modules" / "typescript" / "lib" / "tsc.js"


def missing(pi: str = PI_VERSION) -> str:
    """Return in words what is not installed; empty where everything is."""
    for what, path in {"Node 22": node(pi), f"Pi {pi}": pi_program(pi), "TypeScript": typescript(pi)}.items():
        if not path.is_file():
            return f"{what} is not installed; `make test-hosts` installs it (needs npm)"
    return ""


def install(pi: str = PI_VERSION) -> None:
    """Install one version of Pi, unless it is there."""
    if not missing(pi):
        return
    npm = shutil.which("npm")
    if npm is None:
        sys.exit(
            "npm is needed to install the hosts: install Node.js (any version), for example `apt-get install npm`."
        )
    folder(pi).mkdir(parents=True, exist_ok=True)
    pinned = {
        "@earendil-works/pi-coding-agent": pi,
        node_package(): NODE_VERSION,
        "typescript": TYPESCRIPT_VERSION,
    }
    package = {"private": True, "dependencies": pinned}
    (folder(pi) / "package.json").write_text(json.dumps(package, indent=2), encoding="utf-8")
    # No install scripts: the Node package brings its binary in its own archive, and nothing else needs one.
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"]
    subprocess.run([npm, "install", *options], cwd=folder(pi), check=True)
    problem = missing(pi)
    if problem:
        sys.exit(f"npm reported success, but: {problem}")


if __name__ == "__main__":
    for version in sys.argv[1:] or [PI_VERSION, OLDEST_PI]:
        install(version)
        print(f"Pi {version} with Node {NODE_VERSION}: {folder(version)}")  # noqa: T201 - a program's answer

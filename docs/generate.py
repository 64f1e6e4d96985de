"""Write the pages, files and catalogues that are generated; with ``--check``, fail if one is stale."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from catalogues import catalogues

from persona_hooks.reference import markdown
from persona_host.adapters.claude_code import files as claude_code
from persona_host.adapters.pi.files import manifest_text
from persona_host.headless import headless_runtime
from persona_host.hosts import table

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- from Capabilities, by make docs -->", "<!-- end -->"


def main() -> int:
    """Write or check every generated file; return the exit code."""
    with tempfile.TemporaryDirectory() as nowhere:
        runtime = headless_runtime(agent_dir=Path(nowhere), home=Path(nowhere), environ={})
        registry = runtime.registry
        texts = {
            ROOT / "docs/commands.md": markdown(registry),
            ROOT / "docs/hosts.md": _with_table((ROOT / "docs/hosts.md").read_text("utf-8")),
            ROOT / "persona_host/adapters/pi/bundle/manifest.json": manifest_text(runtime),
            **{claude_code.BUNDLE / name: text for name, text in claude_code.commands(registry).items()},
        }
        generated = {path: text.encode() for path, text in texts.items()} | catalogues(ROOT, registry)
        runtime.close()
    stale = [path for path, content in generated.items() if not path.exists() or path.read_bytes() != content]
    if "--check" in sys.argv[1:]:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(ROOT)} is stale: run make docs\n")
        return 1 if stale else 0
    for path in stale:
        path.write_bytes(generated[path])
        sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")
    return 0


def _with_table(page: str) -> str:
    """Return the page with the table of what hosts can do in its place, between two comments."""
    before, _, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"docs/hosts.md must hold {BEGIN!r} and {END!r}")
    return f"{before}{BEGIN}\n{table()}{END}{after}"


if __name__ == "__main__":
    sys.exit(main())

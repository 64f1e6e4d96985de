"""The files that Pi loads: those of the bundle, and the two that are made for one installation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from persona_hooks.reference import manifest

if TYPE_CHECKING:
    from persona_host.runtime import Runtime

BUNDLE = Path(__file__).with_name("bundle")
"""Where the extension's source lies; Pi can load it from there with ``-e``."""

MANIFEST = "manifest.json"
CONFIG = "config.json"


def manifest_text(runtime: Runtime) -> str:
    """Return ``manifest.json``: what Pi registers before Python has been started."""
    return json.dumps(manifest(runtime.registry, runtime.renders()), indent=2) + "\n"


def config_text(python: Path) -> str:
    """Return ``config.json``: the interpreter that has this package, by its absolute path.

    An absolute path, since a version manager's shim costs more than our whole start, and since what ``python3`` means
    changes with the directory a person works in.
    """
    if not python.is_absolute():
        raise ValueError(f"not an absolute path: {python}")
    return json.dumps({"python": str(python)}, indent=2) + "\n"


def bundle_files() -> dict[str, str]:
    """Return the bundle's own files by name, without what an installation adds."""
    names = sorted(path.name for path in BUNDLE.iterdir() if path.suffix in {".ts", ".json"})
    return {name: (BUNDLE / name).read_text(encoding="utf-8") for name in names if name not in {MANIFEST, CONFIG}}


def installation(runtime: Runtime, python: Path) -> dict[str, str]:
    """Return every file of an installed extension by name."""
    return {**bundle_files(), MANIFEST: manifest_text(runtime), CONFIG: config_text(python)}

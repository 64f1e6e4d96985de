"""The optional parts of this installation: whether one is there, and the command that adds it."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from urllib.parse import unquote, urlsplit

PROBES = {"chat": "pydantic_ai", "mcp": "mcp", "embeddings": "onnxruntime", "classifier": "stackone_defender"}
"""Each extra's telling module."""


def missing(extra: str) -> bool:
    """Return whether an extra is not installed."""
    return find_spec(PROBES[extra]) is None


def command(extra: str) -> str:
    """Return what a person types to add an extra: from the checkout, where this was installed from one."""
    where = _checkout()
    what = f"persona-mind[{extra}]" if where is None else f"{where}[{extra}]"
    editable = "" if where is None else "--editable "
    return f"{shlex.quote(sys.executable)} -m pip install {editable}{shlex.quote(what)}"


def _checkout() -> str | None:
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 - pulls in email and zipfile

    try:
        origin = json.loads(distribution("persona-mind").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    editable = origin.get("dir_info", {}).get("editable") is True
    return unquote(urlsplit(origin.get("url", "")).path) if editable else None

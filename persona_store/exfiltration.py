"""Addresses that carry data away when something renders or fills them in.

A stored image is fetched by whatever renders it; a stored URL with a slot for the conversation is filled in by a
model that means well. Ordinary links and ordinary templates (``/users/{id}``) are neither.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from persona_store.patterns import Pattern


class Leak(NamedTuple):
    """An address that would carry data away."""

    rule: str
    offset: int


_IMAGE: Final = Pattern(
    r"!\[[^\[\]\n]{0,256}\]\(\s{0,8}<?(?:https?:)?//"
    r"|!\[[^\[\]\n]{0,256}\]\[[^\[\]\n]{0,64}\]"
    r"|<(?:img|iframe|script|object|embed|video|audio|link|form|base|meta)\b[^<>]{0,512}?"
    r"(?:src|srcset|href|data|action|content)\s{0,4}=\s{0,4}[\"']?[^\"'<>]{0,16}//",
    re.IGNORECASE,
)
_SCRIPT: Final = Pattern(
    r"(?:\]\(|href\s{0,4}=\s{0,4}[\"']?|\s|^)(?:javascript|vbscript|data:text/html)[:,;](?=\S)", re.IGNORECASE
)
_ADDRESS: Final = Pattern(r"(?:https?|wss?|ftp)://\S{1,1024}", re.IGNORECASE)
_SLOT: Final = Pattern(r"(?:\{\{?|\$\{|<|\[|%[({])(?P<name>[^{}<>\[\]\n]{1,64})[}>\])]")
_SLOT_REACH: Final = 64
_CARGO: Final = Pattern(
    r"(?:^|[^a-z])(?:chat|conversation|dialog|history|memor(?:y|ies)|secrets?|passwords?|credentials?|prompts?|messages?|"
    r"transcript|summary|context|data|answers?|repl(?:y|ies)|responses?|notes|facts|user_?(?:input|text|data|info)|"
    r"input|contents?|stolen|exfil|leak|payload|email_?body|thoughts?|env)(?:$|[^a-z])",
    re.IGNORECASE,
)


def first_leak(text: str) -> Leak | None:
    """Return the first address that would carry data away, or None."""
    found: list[Leak] = []
    if "![" in text or "<" in text:
        image = _IMAGE.re.search(text)
        if image is not None:
            found.append(Leak("exfiltration.remote-content", image.start()))
    if ":" in text:
        script = _SCRIPT.re.search(text)
        if script is not None:
            found.append(Leak("exfiltration.script-address", script.start()))
    if "://" in text:
        address = next((match for match in _ADDRESS.re.finditer(text) if _has_slot(text, match)), None)
        if address is not None:
            found.append(Leak("exfiltration.address-template", address.start()))
    return min(found, key=lambda leak: leak.offset, default=None)


def _has_slot(text: str, address: re.Match[str]) -> bool:
    slots = _SLOT.re.finditer(text, address.start(), address.end() + _SLOT_REACH)
    return any(slot.start() < address.end() and _carries(slot["name"]) for slot in slots)


def _carries(name: str) -> bool:
    return _CARGO.re.search(name) is not None or len(name.split()) > 2

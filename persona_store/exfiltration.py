"""Addresses that carry data away when something renders or fills them in.

A stored image is fetched by whatever renders it; a stored URL with a slot for the conversation is filled in by a
model that means well. Ordinary links, ordinary templates (``/messages/{message_id}``) and markup between backticks are
neither; nor are scripts, style sheets and forms, which nothing that shows a memory fetches or submits, unless their
address has a slot or a query.
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
    r"|<(?:img|iframe|object|embed|video|audio|base|meta|image|source)\b[^<>]{0,512}?"
    r"(?:src|srcset|href|data|content)\s{0,4}=\s{0,4}[\"']?[^\"'<>]{0,16}//"
    r"|<(?:script|link|form)\b[^<>]{0,512}?(?:src|href|action)\s{0,4}=\s{0,4}[\"']?[^\"'<>\s]{0,512}\?",
    re.IGNORECASE,
)
# A scheme that a line break or a tab cuts, which whoever follows the link puts together again.
_BROKEN_SCRIPT: Final = r"(?=[a-z\s]{10,40}:)" + r"\s{0,3}".join("javascript")
_SCRIPT: Final = Pattern(
    r"(?:\]\(\s{0,8}<?|href\s{0,4}=\s{0,4}[\"']?|\s|^)(?:(?:javascript|vbscript|data:text/html)[:,;](?=\S))"
    rf"|(?:\]\(\s{{0,8}}<?|href\s{{0,4}}=\s{{0,4}}[\"']?){_BROKEN_SCRIPT}:"
    # An event handler that reaches out or runs what it is given.
    r"|<[a-z][^<>]{0,256}?[\s/\"']on[a-z]{3,24}\s{0,4}=\s{0,4}[^<>]{0,128}?"
    r"(?://|fetch|beacon|xmlhttp|eval|document\.|location|import\()",
    re.IGNORECASE,
)
_ADDRESS: Final = Pattern(
    r"(?:(?:https?|wss?|ftp)://|(?<![\w:/.])//(?=[\w-]{1,63}\.)|(?<![\w.@/:-])(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}/)\S{1,1024}",
    re.IGNORECASE,
)
_SLOT: Final = Pattern(
    r"(?:\{\{?|\$\{|<|\[|%[({])(?P<name>[^{}<>\[\]\n]{1,64})[}>\])]|=\$(?P<variable>[A-Za-z_]{1,64})"
)
# A slot that names one thing by its number or its key, and one that chooses where a path leads.
_KEYED: Final = Pattern(r"[a-z_.]{0,48}[_.]?(?:ids?|uuid|guid|slug|sha|hash|index|number|version|type)$", re.IGNORECASE)
_PLACE: Final = frozenset(
    {"env", "context", "data", "input", "notes", "content", "contents", "messages", "message", "facts"}
)
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
        image = next((match for match in _IMAGE.re.finditer(text) if not _is_quoted(text, match)), None)
        if image is not None:
            found.append(Leak("exfiltration.remote-content", image.start()))
    if ":" in text or "=" in text:
        script = _SCRIPT.re.search(text)
        if script is not None:
            found.append(Leak("exfiltration.script-address", script.start()))
    if "/" in text and any(opening in text for opening in "{$<[%"):
        address = next((match for match in _ADDRESS.re.finditer(text) if _has_slot(text, match)), None)
        if address is not None:
            found.append(Leak("exfiltration.address-template", address.start()))
    return min(found, key=lambda leak: leak.offset, default=None)


def _has_slot(text: str, address: re.Match[str]) -> bool:
    slots = _SLOT.re.finditer(text, address.start(), address.end() + _SLOT_REACH)
    query = text.find("?", address.start(), address.end())
    return any(
        slot.start() < address.end()
        and _carries(slot["name"] or slot["variable"], path=query < 0 or slot.start() < query, text=text, slot=slot)
        for slot in slots
    )


def _carries(name: str, *, path: bool, text: str, slot: re.Match[str]) -> bool:
    leads_on = path and text[slot.end() : slot.end() + 1] in {"/", "."}
    if _KEYED.re.match(name) or (leads_on and name.lower() in _PLACE):
        return False
    return _CARGO.re.search(name) is not None or len(name.split()) > 2


def _is_quoted(text: str, markup: re.Match[str]) -> bool:
    """Return whether markup stands in a code span of its own line, where nothing renders it."""
    before, after = text[max(0, markup.start() - 1) : markup.start()], text[markup.end() : markup.end() + 512]
    return before == "`" and "`" in after.partition("\n")[0]

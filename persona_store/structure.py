"""Structure that only the host may write: what forges it, and the fence that no text can leave.

``first_forgery`` finds markup that pretends to be a host's own: chat-template tokens, role and tool tags,
fence tags. ``inline`` and ``fence`` are the way out: every stored text becomes one escaped line, and all
lines stand inside one block whose tag carries a key that is fixed for the session and never stored.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_store.hidden import visible
from persona_store.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FENCE_NAME: Final = "persona-mind"
"""The first part of a fence's tag; the key follows it."""


class Forgery(NamedTuple):
    """Markup that pretends to be the host's."""

    rule: str
    offset: int


_TEMPLATE_TOKEN: Final = Pattern(
    r"<\|[a-z_]{2,32}(?:[|:][a-z0-9_ ]{0,32})?\|?>|<\|(?:[a-z]{2,16}_[a-z_]{2,24}|system|user|assistant|end)(?![\w|])"
    r"|<\uff5c|\[\s{0,4}/?\s{0,4}INST\s{0,4}\]|<</?SYS>>|<(?:start|end)_of_turn>"
    r"|</?s>\s{0,4}\[|\[/?(?:SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\]",
    re.IGNORECASE,
)
_TAG: Final = Pattern(
    r"<\s{0,4}/?\s{0,4}(?:(?P<fence>persona-mind|memory_blocks?|persistent[-_]memory)"
    r"|(?P<role>system(?:[-_ ](?:prompt|reminder|message|instructions?|note))?|assistant|developer|im_(?:start|end)"
    r"|(?:antml:)?(?:function_calls|function_results|invoke|tool_(?:calls?|results?|response)|thinking)|(?:function|tool|parameter)(?==)|user_query|user_instructions|human_turn|assistant_turn))"
    r"(?=[\s/>:=\-])[^<>]{0,256}>",
    re.IGNORECASE,
)

# What follows a token that is only talked about: "<system> tags", "<|endoftext|> is token 50256".
_MENTION: Final = Pattern(
    r"[\"'\u201d]?[ ]{1,2}(?:tokens?|tags?|blocks?|elements?|markers?|delimiters?|markup|is|are|was|were)\b"
    r"[ ]?[^\n:!]{0,80}"
    r"(?:[.,;)?]|$|\n)"
)


def first_forgery(text: str) -> Forgery | None:
    """Return the first forged token or tag of a host, or None.

    A token or role tag between backticks, or one that the sentence goes on to name as a tag or a token, is talk
    about markup and passes, since the way out escapes it like any other.

    Args:
        text: The text with compatibility forms folded, so that full-width brackets are brackets.
    """
    found: list[Forgery] = []
    if "<" in text:
        found.extend(_first_tag(text))
    if "<" in text or "[" in text:
        tokens = _TEMPLATE_TOKEN.re.finditer(text)
        token = next((token for token in tokens if not _is_talked_about(text, token)), None)
        if token is not None:
            found.append(Forgery("structure.template-token", token.start()))
    return min(found, key=lambda forgery: forgery.offset, default=None)


def _first_tag(text: str) -> list[Forgery]:
    for tag in _TAG.re.finditer(text):
        if tag.lastgroup == "fence" or not _is_talked_about(text, tag):
            return [Forgery(f"structure.{tag.lastgroup}-tag", tag.start())]
    return []


def _is_talked_about(text: str, token: re.Match[str]) -> bool:
    quoted = text[max(0, token.start() - 1) : token.start()] == "`" and text[token.end() : token.end() + 1] == "`"
    return quoted or _MENTION.re.match(text, token.end()) is not None


# What stands for the key where a text holds it; not nothing, or its two halves would meet.
_NO_KEY: Final = "\u2026"

_SPACE: Final = Pattern(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_OPENERS: Final = str.maketrans({"<": "&lt;", "\uff1c": "&lt;", "\ufe64": "&lt;", "\u2039": "&lt;", "\uff5c": "|"})
_SQUARE: Final = Pattern(r"\[(?=/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS)\])", re.IGNORECASE)
_IMAGE: Final = Pattern(r"!(?=\[)")
_TICKS: Final = Pattern(r"`{3,}|~{3,}")
_LEADING: Final = Pattern(r"^(?=[#>=|-])")
# Most texts are words and plain punctuation with single spaces between them: nothing of them changes.
_WORD: Final = r"[A-Za-z0-9.,;:?'\"()/+*%&$@=_|#>\u00b7\u00c0-\u017f-]+"
_PLAIN: Final = Pattern(rf"(?![#>=|-]){_WORD}(?: {_WORD})*")
# The same of whole blocks, whose lines may begin and go on as they like.
_PLAIN_BLOCK: Final = Pattern(r"[ -;=-~\u00b7\u00c0-\u017f\u2026]+(?:\n[ -;=-~\u00b7\u00c0-\u017f\u2026]+)*")


def inline(text: str) -> str:
    r"""Return the text as one line that can open no tag, heading, fence, image or role of its own.

    White space collapses to single spaces, ``<`` becomes ``&lt;``, hidden characters are spelt out. It is
    total: any string may be given, and the result is a fixed point.
    """
    if _PLAIN.re.fullmatch(text):
        return text
    line = _SPACE.re.sub(" ", visible(_SPACE.re.sub(" ", text))).strip().translate(_OPENERS)
    line = _TICKS.re.sub("'''", _IMAGE.re.sub("! ", _SQUARE.re.sub("[ ", line)))
    return _LEADING.re.sub(r"\\", line)


def new_fence_key() -> str:
    """Return a key for one session's fences: 16 hexadecimal digits that no stored text can know."""
    return os.urandom(8).hex()


def fence(key: str, blocks: Iterable[str], *, attributes: Mapping[str, str] | None = None) -> str:
    """Return all blocks inside one block that their text can neither close nor imitate.

    Args:
        key: The session's key, from ``new_fence_key``; the same key gives the same bytes.
        blocks: Sections of whole lines. Headings are the caller's; every stored text in them has been through
            ``inline``. Tags and the key itself are escaped here again, whatever the caller did.
        attributes: Attributes of the opening tag, such as the persona's name and a note to the reader.

    Returns:
        ``<persona-mind-KEY …>``, the blocks with an empty line between them, ``</persona-mind-KEY>``.
    """
    tag = f"{FENCE_NAME}-{key}"
    head = "".join(f' {name}="{_attribute(value, key)}"' for name, value in (attributes or {}).items())
    body = "\n\n".join(_body(block, key) for block in blocks if block)
    return f"<{tag}{head}>\n{body}\n</{tag}>"


def _attribute(value: str, key: str) -> str:
    return inline(value).replace('"', "'").replace(key, _NO_KEY)


def _body(block: str, key: str) -> str:
    if _PLAIN_BLOCK.re.fullmatch(block):
        return block.replace(key, _NO_KEY)
    lines = (visible(line) for line in re.split(r"[\r\n\x0b\x0c\x85\u2028\u2029]+", block))
    return "\n".join(lines).translate(_OPENERS).replace(key, _NO_KEY).strip("\n")

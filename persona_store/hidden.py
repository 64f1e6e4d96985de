"""Characters that nobody sees: the exact class, where they are legitimate, and what they may conceal.

The class is Unicode's ``Default_Ignorable_Code_Point`` united with ``Bidi_Control`` (a test holds it against
the ``regex`` package), plus the interlinear annotations, control characters, surrogates and noncharacters.
Real writing needs some of them: joiners in Persian, Indic scripts and emoji, variation selectors after an
emoji, tag characters in the flags of England, Scotland and Wales, direction marks beside Hebrew and Arabic.
Those contexts pass unchanged; everything else is found, with its offset in characters.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from persona_store.patterns import Pattern

IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default-ignorable and bidirectional-control code points, as the inside of a character class."""

CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""C0, DEL and C1, without tab and line feed."""

_UNWRITABLE: Final = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0x10000, 0x110000, 0x10000)
)
_ANNOTATION: Final = "\ufff9-\ufffb"
_SUSPECT: Final = Pattern(f"[{CONTROLS}{IGNORABLE}{_ANNOTATION}{_UNWRITABLE}]")

# Emoji outside the pictographic planes; the planes U+1F000..1FAFF are taken whole, so that emoji of later
# Unicode releases keep working.
_EMOJI: Final = Pattern(
    "[\xa9\xae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9-\u21aa\u231a-\u231b\u2328\u23cf\u23e9-\u23f3"
    "\u23f8-\u23fa\u24c2\u25aa-\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2604\u260e\u2611\u2614-\u2615\u2618"
    "\u261d\u2620\u2622-\u2623\u2626\u262a\u262e-\u262f\u2638-\u263a\u2640\u2642\u2648-\u2653\u265f-\u2660"
    "\u2663\u2665-\u2666\u2668\u267b\u267e-\u267f\u2692-\u2697\u2699\u269b-\u269c\u26a0-\u26a1\u26a7"
    "\u26aa-\u26ab\u26b0-\u26b1\u26bd-\u26be\u26c4-\u26c5\u26c8\u26ce-\u26cf\u26d1\u26d3-\u26d4\u26e9-\u26ea"
    "\u26f0-\u26f5\u26f7-\u26fa\u26fd\u2702\u2705\u2708-\u270d\u270f\u2712\u2714\u2716\u271d\u2721\u2728"
    "\u2733-\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2764\u2795-\u2797\u27a1\u27b0\u27bf"
    "\u2934-\u2935\u2b05-\u2b07\u2b1b-\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299\U0001f000-\U0001faff]"
)

# Scripts whose letters change shape beside their neighbours, or stack: where a joiner changes what is read.
_JOINING: Final = Pattern(
    "[\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\u1900-\u1cff\ua800-\ua82f\ua840-\ua8ff\ua930-\uaaff"
    "\uabc0-\uabff\ufb50-\ufdff\ufe70-\ufefe\U00010a00-\U00010aff\U00010d00-\U00010fff\U00011000-\U00011fff"
    "\U0001e900-\U0001e95f]"
)
_RIGHT_TO_LEFT: Final = Pattern("[\u05be-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_MONGOLIAN: Final = Pattern("[\u1800-\u180a\u1810-\u18af]")

# The three flags for general interchange, and the states and provinces that fonts also carry.
_FLAG: Final = Pattern(
    "\U0001f3f4(?:"
    "\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)"
    "|(?:\U000e0075\U000e0073|\U000e0063\U000e0061)[\U000e0061-\U000e007a]{2}"
    ")\U000e007f"
)
_FLAG_REACH: Final = 7
# A direction mark serves text of the other direction beside it; the bound also keeps the scan linear.
_MARK_REACH: Final = 64

_ZWNJ, _ZWJ = "\u200c", "\u200d"
_MARKS: Final = "\u200e\u200f\u061c"
_KEYCAP: Final = "\u20e3"


class HiddenCharacter(NamedTuple):
    """A character that may not stand where it stands."""

    rule: str
    """``hidden.…`` or ``control.…``."""
    offset: int
    """Position in characters from the start of the text."""
    code_point: str
    """Such as ``U+200B``."""


def first_hidden(text: str) -> HiddenCharacter | None:
    """Return the first hidden or control character outside its legitimate contexts, or None."""
    for match in _SUSPECT.re.finditer(text):
        offset = match.start()
        if not _legitimate(text, offset):
            character = text[offset]
            return HiddenCharacter(_rule(character), offset, f"U+{ord(character):04X}")
    return None


def visible(text: str) -> str:
    r"""Return the text with every illegitimate hidden or control character spelt out, such as ``\u{200b}``.

    Tabs and line feeds stay, and so does what is legitimate; the result is safe to print on a terminal.
    """
    if text.isascii() and text.isprintable():
        return text
    return _SUSPECT.re.sub(
        lambda match: match[0] if _legitimate(text, match.start()) else f"\\u{{{ord(match[0]):x}}}", text
    )


def concealed(text: str) -> str:
    """Return what tag characters and variation selectors spell: ASCII letters and bytes, or ``""``.

    The result exists to be scanned; it is never stored or shown.
    """
    if text.isascii():
        return ""
    tags = "".join(chr(ord(c) - 0xE0000) for c in text if "\U000e0020" <= c <= "\U000e007e")
    smuggled = bytes(_selector_byte(c) for c in text if "\ufe00" <= c <= "\ufe0f" or "\U000e0100" <= c <= "\U000e01ef")
    return tags + smuggled.decode("utf-8", "ignore")


def _selector_byte(character: str) -> int:
    code = ord(character)
    return code - 0xFE00 if code <= 0xFE0F else code - 0xE0100 + 16


# Looked up in this order; what none of them holds is a joiner or another zero-width character.
_RULES: Final = tuple(
    (rule, re.compile(f"[{members}]"))
    for rule, members in (
        ("control.surrogate", "\ud800-\udfff"),
        ("control.character", CONTROLS),
        ("control.noncharacter", _UNWRITABLE),
        ("hidden.tag", "\U000e0000-\U000e007f"),
        ("hidden.variation-selector", "\ufe00-\ufe0f\u180b-\u180f\U000e0100-\U000e01ef"),
        ("hidden.direction", "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"),
        ("hidden.filler", "\u115f\u1160\u17b4\u17b5\u3164\uffa0"),
    )
)


def _rule(character: str) -> str:
    return next((rule for rule, members in _RULES if members.match(character)), "hidden.zero-width")


def _legitimate(text: str, offset: int) -> bool:
    character = text[offset]
    before = text[offset - 1] if offset else ""
    after = text[offset + 1] if offset + 1 < len(text) else ""
    if character == "\r":
        return after == "\n"
    if character in {_ZWJ, _ZWNJ}:
        return _joins_script(before, character, after) or (character == _ZWJ and _joins_emoji(before, after))
    if character in "\ufe0e\ufe0f":
        return _is_emoji(before) or (before != "" and before in "0123456789#*" and after == _KEYCAP)
    if character in "\u180b\u180c\u180d\u180f\u180e":
        return _MONGOLIAN.re.match(before) is not None
    if character in _MARKS:
        return _directs(text, before, offset, after)
    return "\U000e0020" <= character <= "\U000e007f" and _in_flag(text, offset)


def _is_emoji(character: str) -> bool:
    return _EMOJI.re.match(character) is not None


def _joins_emoji(before: str, after: str) -> bool:
    return (before == "\ufe0f" or _is_emoji(before)) and _is_emoji(after)


def _is_joining(character: str) -> bool:
    return _JOINING.re.match(character) is not None and unicodedata.category(character)[0] in "LMN"


def _joins_script(before: str, joiner: str, after: str) -> bool:
    if _is_joining(before):
        return _is_joining(after) or not (after.isalnum() or _SUSPECT.re.match(after))
    # Persian joins its suffixes to Latin words and digits with a non-joiner.
    return joiner == _ZWNJ and before.isalnum() and _is_joining(after)


def _directs(text: str, before: str, offset: int, after: str) -> bool:
    if _SUSPECT.re.match(before) or (_SUSPECT.re.match(after) and after != "\r"):
        return False
    splits_word = before.isascii() and before.isalpha() and after.isascii() and after.isalpha()
    nearby = _RIGHT_TO_LEFT.re.search(text, max(0, offset - _MARK_REACH), offset + _MARK_REACH)
    return not splits_word and nearby is not None


def _in_flag(text: str, offset: int) -> bool:
    start = text.rfind("\U0001f3f4", max(0, offset - _FLAG_REACH), offset)
    flag = _FLAG.re.match(text, start) if start >= 0 else None
    return flag is not None and offset < flag.end()

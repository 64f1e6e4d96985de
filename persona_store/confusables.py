"""Names of personas, users and scopes: what may be a name, and when two names look the same.

A name decides whose memory is read, so it is held to more than a text is: no hidden character, one script in
a word, no letters borrowed from a typeface, none of the reserved words. ``skeleton`` folds look-alikes
together, so that a new name can be held against those that exist.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_store.hidden import first_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable

NameKind: TypeAlias = Literal["persona", "user", "scope"]

MAX_NAME: Final = 200
"""The longest name, in characters."""

RESERVED: Final[frozenset[str]] = frozenset({"_default", "_shared", "default", "shared"})
"""Segments that the stores use themselves; no persona or scope may take them, in any letter case."""

# What a person writes to ask for no persona, and the devices of Windows, which are no files there.
_NO_PERSONA: Final = frozenset(
    {"none", "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)

# Letters of other scripts that are drawn like Latin ones, each with the Latin letter.
_CYRILLIC: Final = ("авеԍһіїјкӏмнопԛрсѕтуԝхѵьг", "abeghiijklmhonqpcstywxvbr")
_GREEK: Final = ("αβγεηικνοπρτυχωϲϳ", "abyenikvonptuxwcj")
_ARMENIAN: Final = ("աբցեհլոսսօք", "wpgehlnuuoq")
LOOK_ALIKES: Final = str.maketrans(
    {a: b for source, target in (_CYRILLIC, _GREEK, _ARMENIAN) for a, b in zip(source, target, strict=True)}
    | {"\u0131": "i", "\u0251": "a", "\u0261": "g", "\u0269": "i", "\u0280": "r", "\ua781": "l"}
    | {"ø": "o", "ł": "l", "đ": "d"}
)

_DIGITS: Final = str.maketrans("01", "ol")

# Characters that stand for white space or nothing; a name's words are parted by plain spaces.
_INVISIBLE: Final = "\t\n\r\xa0\u2028\u2029\u2800\ufffc"

# Japanese and Korean words mix these by right, and take Latin letters among them.
_EAST_ASIAN: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "LATIN", "IDEOGRAPHIC"})


def skeleton(name: str) -> str:
    """Return a form in which names that look alike are equal; for comparing only, never stored or shown."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    bare = "".join(c for c in folded if not unicodedata.combining(c))
    return bare.translate(LOOK_ALIKES).translate(_DIGITS).replace("rn", "m").replace("vv", "w")


def check_name(name: str, *, kind: NameKind = "persona", existing: Iterable[str] = ()) -> None:
    """Raise unless the string may be a name.

    Args:
        name: The name as it was given.
        kind: What it names; reserved words concern personas and scopes only.
        existing: Names in use that the new one must not be mistaken for; an equal one is no conflict.

    Raises:
        RefusedError: ``details`` holds ``rule`` and ``kind``, and for a look-alike the name it resembles.
    """
    rule = _broken_rule(name, kind)
    if rule is not None:
        raise RefusedError(
            phrase("This {kind} name is refused: {why}.", kind=_KINDS[kind], why=_WHY[rule]),
            reason="unsafe_name",
            rule=rule,
            kind=kind,
        )
    alike = next((other for other in existing if other != name and skeleton(other) == skeleton(name)), None)
    if alike is not None:
        raise RefusedError(
            phrase("This {kind} name looks like one that is in use; choose another.", kind=_KINDS[kind]),
            reason="unsafe_name",
            rule="name.look-alike",
            kind=kind,
            resembles=alike,
        )


_KINDS: Final[dict[NameKind, str]] = {
    "persona": phrase("persona"),
    "user": phrase("user"),
    "scope": phrase("scope"),
}
_WHY: Final = {
    "name.empty": phrase("it has no visible character"),
    "name.length": phrase("it is longer than {limit} characters", limit=MAX_NAME),
    "name.hidden": phrase("it holds a hidden or control character"),
    "name.mixed-scripts": phrase("one of its words mixes letters of several scripts"),
    "name.typeface": phrase("it uses letters of a typeface instead of plain ones"),
    "name.reserved": phrase("the system uses it itself"),
}


def _broken_rule(name: str, kind: NameKind) -> str | None:
    checks = (
        ("name.empty", not name.strip()),
        ("name.length", len(name) > MAX_NAME),
        ("name.hidden", first_hidden(name) is not None or any(c in _INVISIBLE for c in name)),
        ("name.typeface", any(map(_is_typeface, name))),
        ("name.mixed-scripts", any(map(_mixes_scripts, _words(name)))),
        ("name.reserved", kind != "user" and _plain(name) in RESERVED),
        ("name.reserved", kind == "persona" and _plain(name).partition(".")[0].strip() in _NO_PERSONA),
    )
    return next((rule for rule, broken in checks if broken), None)


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).strip().casefold()


def _words(name: str) -> list[str]:
    return "".join(c if c.isalnum() or unicodedata.combining(c) else " " for c in name).split()


def _script(letter: str) -> str:
    return unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]


def _mixes_scripts(word: str) -> bool:
    if word.isascii():
        return False
    scripts = {_script(c) for c in word if c.isalpha()} - {"MODIFIER", "FEMININE", "MASCULINE"}
    return len(scripts) > 1 and not scripts <= _EAST_ASIAN


def _is_typeface(character: str) -> bool:
    if character.isascii():
        return False
    plain = unicodedata.normalize("NFKC", character)
    return plain.isascii() and plain.isalnum()

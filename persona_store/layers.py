"""Passages that a reader sees through: base64, base32, hexadecimal, binary, escapes, reversal, markup inside words.

Only what decodes to plain text is a layer; hashes, keys and pictures do not.
"""

from __future__ import annotations

import binascii
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_store.hidden import concealed
from persona_store.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Layer(NamedTuple):
    """A decoded passage; it exists to be scanned and is neither stored nor shown."""

    how: str
    offset: int
    text: str


_MOST_RUNS: Final = 16
_SPELT: Final = 6
_URL_SAFE: Final = str.maketrans("-_", "+/")
_BASE32_DIGITS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_RUN: Final = Pattern(r"[A-Za-z0-9+/_-]{20,}={0,6}")
_BINARY: Final = Pattern(r"(?<![01])[01]{8}(?:[ ,]?[01]{8}){3,}")
_HEX: Final = Pattern(r"[0-9a-fA-F]{16,}")
_BASE32: Final = Pattern(r"[A-Z2-7]{24,}={0,6}")
_ESCAPE: Final = Pattern(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})")
_PERCENT: Final = Pattern(r"%([0-7][0-9a-fA-F])")
_ENTITY: Final = Pattern(r"&#(?:x([0-9a-fA-F]{2,5})|([0-9]{2,6}));?")
# Of plain text each octet begins with 2 to 7.
_OCTETS: Final = Pattern(
    r"[2-7][0-9a-fA-F](?<![0-9A-Fa-f:]..)[ ,:]{1,2}(?:(?:0x)?[2-7][0-9a-fA-F][ ,:]{1,2}){6,}(?:0x)?[2-7][0-9a-fA-F]"
    r"(?![0-9A-Fa-f])"
)
_OCTET: Final = Pattern(r"(?<![0-9A-Fa-f])[0-9a-fA-F]{2}(?![0-9A-Fa-f])")
_APART: Final = Pattern(r"(?<!\S)(?:[!-~][ \t]{1,3}){7,}[!-~](?!\S)")
_CELL: Final = Pattern(r"(?:</?(?:t[dhr]|d[td]|li|p|br|div)\b[^<>]{0,64}>\s{0,8})+", re.IGNORECASE)
_EMPHASIS: Final = Pattern(
    r"<!--[^<>]{0,64}-->|</?(?:b|i|u|s|em|strong|code|kbd|samp|tt|span|mark|small|sub|sup|font|a)\b[^<>]{0,64}>"
    r"|(?<=[^\W_])(?:\*{1,3}|_{2,3}|~~|`{1,3})(?=[^\W_])|\*\*|__|~~|(?<=[a-z])-\n[ \t]{0,8}(?=[a-z])",
    re.IGNORECASE,
)
_MARKED: Final = ("**", "__", "~~", "</", "<!--", "-\n")
_INSIDE: Final = Pattern(r"[^\W_][*`][^\W_]")
_SPACED: Final = Pattern(r"(?<![^\W_])(?:[a-z][ .\-_*]{1,4}){5,}[a-z](?![^\W_])")
_KNOWN_WORDS: Final = Pattern(
    "ignore|disregard|forget|override|all|any|your|the|my|these|previous|prior|above|earlier|system|instructions?|prompt"
    "|directives?|guidelines|rules|reveal|show|print|tell|user|never|password|secret"
)
_SET_APART: Final = r" \g<0> "
_REVERSED: Final = (
    *("snoitcurtsni", "tpmorp", "suoiverp", "enilediug", "evitcerid"),
    *("drowssap", "esarhpssap", "yek_ipa", "yek ipa", "terces", "_phg", "_shg", "tap_buhtig", "-tna-ks", "-jorp-ks"),
    *("aika", "-talplg", "-bxox", "_evil_ks", "bazia", "_fh", "jye."),
)
_ROT13: Final = ("vafgehpgvba", "cerivbhf", "flfgrz cebzcg", "vtaber")
_ROT13_TABLE: Final = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "nopqrstuvwxyzabcdefghijklmNOPQRSTUVWXYZABCDEFGHIJKLM"
)


def layers(text: str, folded: str, spelt: int) -> Iterator[Layer]:
    """Yield the decoded passages of a text.

    Args:
        text: The text as it was given.
        folded: Its folded form, for what hides in the order of letters.
        spelt: How many of its words are single letters.
    """
    yield from _encoded_runs(text)
    binary = _BINARY.re.search(text) if "01" in text else None
    if binary is not None:
        octets = re.findall("[01]{8}", binary[0])
        yield from _readable("binary", binary.start(), bytes(int(octet, 2) for octet in octets))
    yield from _escaped(text)
    hidden = concealed(text)
    if len(hidden) >= 4:
        yield Layer("concealed", 0, hidden)
    if spelt >= _SPELT:
        yield from _spaced(text, folded)
    if any(mark in text for mark in _MARKED) or (("*" in text or "`" in text) and _INSIDE.re.search(text)):
        yield Layer("unmarked", 0, _EMPHASIS.re.sub("", _CELL.re.sub(" | ", text)))
    if any(word in folded for word in _REVERSED):
        yield Layer("reversed", 0, text[::-1])
    if any(word in folded for word in _ROT13):
        yield Layer("rot13", 0, folded.translate(_ROT13_TABLE))


def _escaped(text: str) -> Iterator[Layer]:
    if "\\u" in text or "\\x" in text:
        yield Layer("escaped", 0, _ESCAPE.re.sub(lambda m: chr(int(m[1] or m[2], 16)), text))
    if "%" in text and _PERCENT.re.search(text):
        yield Layer("escaped", 0, _PERCENT.re.sub(lambda m: chr(int(m[1], 16)), text))
    if "&#" in text:
        yield Layer("escaped", 0, _ENTITY.re.sub(_character, text))
    if '\\"' in text:
        yield Layer("escaped", 0, text.replace('\\"', '"'))
    apart = _OCTETS.re.search(text)
    if apart is not None:
        yield from _readable("hex", apart.start(), bytes(int(octet, 16) for octet in _OCTET.re.findall(apart[0])))


def _spaced(text: str, folded: str) -> Iterator[Layer]:
    first = _SPACED.re.search(folded)
    if first is not None:
        yield Layer("spaced", first.start(), _SPACED.re.sub(_letters, folded))
    apart = _APART.re.search(text)
    if apart is not None:
        yield Layer("spaced", apart.start(), _APART.re.sub(lambda match: re.sub(r"\s(\s?)\s?", r"\1", match[0]), text))


def _letters(match: re.Match[str]) -> str:
    letters = re.sub(r"[ .\-_*]", "", match[0])
    return f" {_KNOWN_WORDS.re.sub(_SET_APART, letters)} "


def _encoded_runs(text: str) -> Iterator[Layer]:
    for count, match in enumerate(_RUN.re.finditer(text)):
        if count == _MOST_RUNS:
            return
        run, offset = match[0], match.start()
        for how, shape, decode in _DECODERS:
            if shape.re.fullmatch(run):
                yield from _readable(how, offset, decode(run))


def _character(entity: re.Match[str]) -> str:
    code = int(entity[1], 16) if entity[1] else int(entity[2])
    return chr(min(code, 0x10FFFF))


def _base64(run: str) -> bytes:
    bare = run.rstrip("=").translate(_URL_SAFE)
    return _quiet(binascii.a2b_base64, bare + "=" * (-len(bare) % 4))


def _base32(run: str) -> bytes:
    bits = "".join(f"{_BASE32_DIGITS.index(digit):05b}" for digit in run.rstrip("="))
    return bytes(int(bits[start : start + 8], 2) for start in range(0, len(bits) // 8 * 8, 8))


def _hex(run: str) -> bytes:
    return _quiet(binascii.unhexlify, run[: len(run) // 2 * 2])


def _quiet(decode: Callable[[str], bytes], run: str) -> bytes:
    try:
        return decode(run)
    except (binascii.Error, ValueError):
        return b""


_DECODERS: Final = (
    ("hex", _HEX, _hex),
    ("base32", _BASE32, _base32),
    ("base64", _RUN, _base64),
)


def _readable(how: str, offset: int, decoded: bytes) -> Iterator[Layer]:
    printable = sum(32 <= byte < 127 or byte in b"\n\r\t" for byte in decoded)
    if len(decoded) >= 8 and printable >= 0.95 * len(decoded):
        yield Layer(how, offset, decoded.decode("ascii", "replace"))

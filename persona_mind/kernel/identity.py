"""Identity: when two facts are the same fact, what they are called, and who a person is.

A fact's identity is its kind, its normalised text and its normalised tags. Where it came from, when, and who said it
are outside. The id is a short handle of that identity; rows are told apart by the whole of it, the semantic key.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import InvalidError

if TYPE_CHECKING:
    from collections.abc import Iterable

ID_PATTERN: Final = r"^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$"
"""What a stored id may look like; ours are twelve hex digits."""

DEFAULT_USER: Final = "u:1"
"""The person who is meant where a host names none."""

# The white space of ECMAScript, since ids of existing profiles were made with it; Python's own set differs.
_SPACE: Final = re.compile("[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")
_EDGES: Final = re.compile(rf"\A{_SPACE.pattern}|{_SPACE.pattern}\Z")
_PERSON: Final = re.compile(r"u:[1-9][0-9]{0,18}", re.ASCII)


class Key(NamedTuple):
    """A semantic key: equal exactly when two facts say the same thing."""

    kind: str
    text: str
    tags: tuple[str, ...]


def normal_text(text: str) -> str:
    """Return ``text`` as it counts in an identity: NFC, trimmed, one space for each run, lower case."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip(" ").lower()


def folded_text(text: str) -> str:
    """Return ``text`` as its spellings agree: where capitals write ß as SS, and wherever else lower case keeps two.

    An identity does not count by this, since ids of existing profiles do not. An erasure means every spelling.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    return " ".join(_SPACE.sub(" ", folded).split())


def normal_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Return ``tags`` as they count in an identity: NFC, trimmed, lower case, none empty, none twice, sorted."""
    plain = {_EDGES.sub("", unicodedata.normalize("NFC", tag)).lower() for tag in tags} - {""}
    return tuple(sorted(plain, key=_code_units))


def key(kind: str, text: str, tags: Iterable[str]) -> Key:
    """Return the semantic key of a fact."""
    return Key(kind, normal_text(text), normal_tags(tags))


def content_id(of: Key) -> str:
    """Return the id of a semantic key: twelve hex digits."""
    return _digest(of, _listed(of.tags) if any("," in tag for tag in of.tags) else ",".join(of.tags))


def semantic(of: Key) -> str:
    """Return a semantic key as one text: what tombstones are made of and asked for."""
    return json.dumps([of.kind, of.text, of.tags], ensure_ascii=False, separators=(",", ":"))


def handles(of: Key, stored: str) -> frozenset[str]:
    """Return every id that a row answers to: the one it is stored under, its current one, its older form."""
    return frozenset({stored, content_id(of), _digest(of, ",".join(of.tags))})


def person(text: str) -> str:
    """Return ``text`` if it is a person's id, ``u:`` and up to 19 digits without a leading zero.

    Raises:
        InvalidError: It is not. Digits of other scripts, spaces and a trailing line break are not accepted.
    """
    if _PERSON.fullmatch(text) is None:
        raise InvalidError("A person is named u: and a number, such as u:42.", field="person")
    return text


def _digest(of: Key, tags: str) -> str:
    data = f"{of.kind}\0{of.text}\0{tags}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:12]


def _listed(tags: tuple[str, ...]) -> str:
    return json.dumps(tags, ensure_ascii=False, separators=(",", ":"))


def _code_units(text: str) -> bytes:
    """Order as ECMAScript sorts strings, by UTF-16 code units, so that ids agree beyond the basic plane."""
    return text.encode("utf-16-be", "surrogatepass")

"""What all fact verbs do, said a second time and plainly: lists of rows, and no locks, versions, indexes or caches.

Each verb of the model returns what every file will hold, or raises why the verb has to refuse.
"""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_mind.facts.model import KINDS
from persona_mind.kernel import clock
from persona_mind.kernel.identity import Key, content_id, handles, key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Value = dict[str, Any]
"""The fields of a row, as JSON has them."""
Rows = dict[str, list[Any]]
"""What stands in each file: the exact bytes of a row that stays, the fields of one that is written."""

TIERS = ("persona", "shared", "project", "stm")
LONG_ENOUGH = 12
UNKNOWN: Value = {"mood": {"is": [1, 2.5, "\u00e9", {"deep": None}]}, "colour": "\U0001f7e2"}
"""Fields of a later release."""
_REQUIRED = {"id", "kind", "text", "tags", "recordedAt", "lastSeenAt"}


class Seat(NamedTuple):
    """Who asks, and where."""

    persona: str
    project: str


class Held(NamedTuple):
    """A row that can be read, and where it stands."""

    tier: str
    raw: bytes
    value: Value

    @property
    def key(self) -> Key:
        return key_of(self.value)

    @property
    def handles(self) -> frozenset[str]:
        return _handles(self.key, self.value["id"])


SEATS = [Seat(persona, project) for project in ("rocket", "garden") for persona in ("Ann", "Bob")]


class Refusal(Exception):  # noqa: N818 - it is an answer that the verb owes, and no error
    """The reason that a verb has to refuse for."""


_key, _handles = lru_cache(maxsize=4_096)(key), lru_cache(maxsize=4_096)(handles)


def key_of(value: Value) -> Key:
    return _key(value["kind"], value["text"], tuple(value["tags"]))


@lru_cache(maxsize=4_096)
def decoded(raw: bytes) -> Any:  # noqa: ANN401 - JSON
    return json.loads(raw)


def readable(raw: bytes, *, ends: bool) -> Value | None:
    """Return the fields of a row that this release can read; ``ends`` says whether its file is of facts that do."""
    value = decoded(raw)
    good = isinstance(value, dict) and value.keys() >= _REQUIRED and value["kind"] in KINDS
    return value if good and ("expiresAt" in value) == ends else None


def text_of(value: Value) -> str:
    text = value.get("text")
    return text if isinstance(text, str) else ""


def without_nulls(value: Value) -> Value:
    return {name: item for name, item in value.items() if item is not None}


def without(rows: Sequence[Any], gone: Iterable[bytes]) -> list[Any]:
    left = list(gone)
    return [row for row in rows if row not in left]


def resolve(rows: Iterable[Held], handle: str) -> list[Held]:
    """Return the rows of the one fact that an id names."""
    found = [row for row in rows if handle in row.handles]
    if not found:
        raise Refusal("not_found")
    if len({row.key for row in found}) > 1:
        raise Refusal("ambiguous_id")
    return found


def own(found: list[Held], seat: Seat) -> list[Held]:
    """Return the rows that a persona may change: all but others' working facts."""
    mine = [row for row in found if row.tier != "stm" or row.value.get("persona", "_default") == seat.persona]
    if not mine:
        raise Refusal("not_owner")
    return mine


def refreshed(raw: bytes, old: Value, new: Value) -> bytes | Value:
    """Return a row said again: it keeps its id, its first time, whose it is, and all that nobody here knows."""
    said = old if old.get("origin") == "user" and old["text"] == new["text"] else new
    kept = {"id": old["id"], "recordedAt": old["recordedAt"], "persona": old.get("persona") or new.get("persona")}
    kept |= {"origin": said.get("origin"), "host": said.get("host")}
    if "expiresAt" in new:
        kept["expiresAt"] = max(old["expiresAt"], new["expiresAt"])
    value = without_nulls({**old, **new, **kept})
    return raw if value == without_nulls(old) else value


def stones(text: str, tags: Iterable[str], source: str | None) -> set[str]:
    """Return the words of which each keeps a fact out once it was erased."""
    long = [tag for tag in tags if len(tag.strip()) >= LONG_ENOUGH]
    return {plain(one) for one in (text, source or "", *long)} - {""}


def plain(text: str) -> str:
    """Return a text as all its spellings agree."""
    return " ".join(unicodedata.normalize("NFC", text.casefold()).split())


def holds(value: object, texts: Iterable[str], field: str = "text") -> bool:
    """Return whether data holds one of the texts: a short one as a whole text or source, a long one anywhere."""
    if isinstance(value, dict):
        return any(holds(name, texts, "") or holds(item, texts, name) for name, item in value.items())
    if isinstance(value, list):
        return any(holds(item, texts, "") for item in value)
    if not isinstance(value, str):
        return False
    found, whole = plain(value), field in {"text", "source"}
    return any(one in found if len(one) >= LONG_ENOUGH else whole and one == found for one in map(plain, texts))


def goes(raw: bytes, texts: set[str]) -> bool:
    """Return whether an erasure of the texts takes a row; one without fields holds no short text."""
    return holds(decoded(raw), texts, "")


class FactModel:
    """The files of facts of one profile.

    Attributes:
        rows: The exact bytes of every row of every file, by the file's path below the profile.
        erased: Words that are refused, whatever their capitals.
        words: Those of them that no file may hold as a text.
        erased_ids: Ids under which something was erased.
    """

    def __init__(self, slugs: Mapping[str, str], now: Callable[[], datetime]) -> None:
        self._slugs, self._now = slugs, now
        self.rows: Rows = {self.place(seat, tier): [] for seat in SEATS for tier in TIERS}
        self.erased: set[str] = set()
        self.words: set[str] = set()
        self.erased_ids: set[str] = set()

    def place(self, seat: Seat, tier: str) -> str:
        name = {"persona": seat.persona, "shared": "_shared"}.get(tier, self._slugs[seat.project])
        return f"memory/{tier if tier in {'project', 'stm'} else 'ltm'}/{name}.json"

    def moment(self, hours: float = 0) -> str:
        return clock.format(self._now() + timedelta(hours=hours))

    def live(self, value: Value | None) -> bool:
        return value is None or value.get("expiresAt", "~") > self.moment()

    def held(self, seat: Seat, rows_of: Callable[[str], Iterable[bytes]] | None = None) -> list[Held]:
        """Return every readable row of the files that belong to a seat, or of other versions of these files."""
        files = [(tier, (rows_of or self.rows.__getitem__)(self.place(seat, tier))) for tier in TIERS]
        found = [(tier, raw, readable(raw, ends=tier == "stm")) for tier, rows in files for raw in rows]
        return [Held(tier, raw, value) for tier, raw, value in found if value is not None]

    def visible(self, seat: Seat) -> list[Held]:
        return [row for row in self.held(seat) if self.live(row.value)]

    def shown(self, seat: Seat) -> list[Held]:
        """Return one row for each fact: the private one, else the latest."""
        facts: dict[Key, list[Held]] = {}
        for row in self.visible(seat):
            facts.setdefault(row.key, []).append(row)
        return [max(rows, key=lambda row: (row.tier == "persona", row.value["lastSeenAt"])) for rows in facts.values()]

    def read(self, seat: Seat, handle: str) -> Held:
        return resolve(self.visible(seat), handle)[0]

    def remember(self, seat: Seat, given: Value, origin: str) -> Rows:
        tier = "persona" if given["kind"] == "objective" and given["scope"] == "stm" else given["scope"]
        words = stones(given["text"], given["tags"], given.get("source"))
        if given["insist"] and origin != "user":
            raise Refusal("not_a_person")
        if not given["insist"] and words & self.erased:
            raise Refusal("erased")
        new, handle = self._said(seat, tier, given, origin), given.get("supersedes")
        old = own(resolve(self.visible(seat), handle), seat) if handle else []
        if any(row.key == key_of(new) for row in old):
            del new["supersedes"]
        after = dict(self.rows)
        self._record(after, seat, tier, new, [row.raw for row in old if row.tier == tier and row.key != key_of(new)])
        self._remove(after, seat, [row for row in old if row.tier != tier])
        if given["insist"]:
            self.erased, self.words = self.erased - words, self.words - words
        return after

    def forget(self, seat: Seat, handle: str, tier: str | None) -> Rows:
        found = resolve(self.visible(seat), handle)
        after = dict(self.rows)
        self._remove(after, seat, own(resolve([row for row in found if tier in {None, row.tier}], handle), seat))
        return after

    def promote(self, seat: Seat, handle: str, tier: str) -> Rows:
        working = [row for row in resolve(self.visible(seat), handle) if row.tier == "stm"]
        if not working:
            raise Refusal("not_working")
        row = own(working, seat)[0]
        value = row.value
        if stones(value["text"], value["tags"], value.get("source")) & self.erased:
            raise Refusal("erased")
        kept = {name: item for name, item in value.items() if name not in {"expiresAt", "persona"}}
        owner = value.get("persona") if tier == "project" else None
        after = dict(self.rows)
        self._record(after, seat, tier, without_nulls({**kept, "persona": owner, "lastSeenAt": self.moment()}))
        self._remove(after, seat, [row])
        return after

    def erase(
        self, seat: Seat, handle: str, previous: Callable[[str], Iterable[bytes]], *, everywhere: bool
    ) -> tuple[Rows, set[str]]:
        """Return what stays, and the texts that were erased; none where the id was erased before."""
        named = self._named(seat, handle, previous)
        texts = {row.value["text"] for row in named}
        objects = [value for raws in self.rows.values() for value in map(decoded, raws) if isinstance(value, dict)]
        found = [value for value in objects if holds(value, texts)]
        same = set(map(plain, texts))
        if not everywhere and any(plain(text_of(value)) not in same for value in found):
            raise Refusal("contained")
        texts |= {text_of(value) for value in found if holds(text_of(value), texts)}
        self.words |= set(map(plain, texts))
        self.erased |= self.words | set(map(plain, map(text_of, found))) - {""}
        self.erased_ids |= {one for row in named for one in row.handles} | {str(value["id"]) for value in found}
        return {place: [raw for raw in rows if not goes(raw, texts)] for place, rows in self.rows.items()}, texts

    def _named(self, seat: Seat, handle: str, previous: Callable[[str], Iterable[bytes]]) -> list[Held]:
        for rows in (self.held(seat), self.held(seat, previous)):
            if any(handle in row.handles for row in rows):
                return resolve(rows, handle)
        if handle not in self.erased_ids:
            raise Refusal("not_found")
        return []

    def _said(self, seat: Seat, tier: str, given: Value, origin: str) -> Value:
        tags = [tag.strip() for tag in given["tags"] if tag.strip()]
        value = {"kind": given["kind"], "text": given["text"].strip(), "tags": tags}
        value |= {"id": content_id(key_of(value)), "recordedAt": self.moment(), "lastSeenAt": self.moment()}
        value |= {"supersedes": given.get("supersedes"), "source": given.get("source"), "origin": origin}
        value |= {"derivedFrom": given.get("derived_from"), "host": "library"}
        value["persona"] = seat.persona if tier in {"project", "stm"} else None
        value["expiresAt"] = self.moment(given.get("ttl_hours", 48)) if tier == "stm" else None
        return without_nulls(value)

    def _record(self, after: Rows, seat: Seat, tier: str, new: Value, retired: Iterable[bytes] = ()) -> None:
        ends, place = tier == "stm", self.place(seat, tier)
        rows = [raw for raw in without(after[place], retired) if self.live(readable(raw, ends=ends))]
        for at, raw in enumerate(rows):
            old = readable(raw, ends=ends)
            if old and key_of(old) == key_of(new) and (not ends or old.get("persona") == new.get("persona")):
                rows[at] = refreshed(raw, old, new)
                break
        else:
            rows.append(new)
        after[place] = rows

    def _remove(self, after: Rows, seat: Seat, gone: Iterable[Held]) -> None:
        for row in gone:
            place = self.place(seat, row.tier)
            after[place] = without(after[place], [row.raw])

"""What was erased and must not come back, under whatever kind, tags or id it comes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from persona_hooks.errors import InvalidError, RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel import clock
from persona_mind.kernel.identity import Key, folded_text, key, normal_text, semantic
from persona_mind.kernel.kinds import KINDS
from persona_store.jsontext import decode_row
from persona_store.tombstones import LONG_ENOUGH, Tombstones

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from persona_store.document import Row, Rows
    from persona_store.jsontext import JsonValue
    from persona_store.tombstones import Tombstone
    from persona_store.transaction import Profile, Transaction

T = TypeVar("T")

BACKLOG: Final = "backlog"
"""What stands in an item's identity where a fact has its kind."""
_WORDS: Final = ("text", "note", "source")
"""The fields in which a text counts however short it is."""
_SAID: Final = ("recordedAt", "createdAt")
"""The fields that tell when a row was said first; the moment of saying it again is moved by a model, too."""
_ABOUT: Final = frozenset({"id", "persona", "host"})
"""The fields that tell whose a row is and where it was said: a name in them is no text of it."""
ERASED: Final = "erased"
"""The reason of a refusal that only a person who insists can lift."""


class Erased:
    """The tombstones of a profile, asked by text. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._tombstones = Tombstones(profile)

    @property
    def standing(self) -> Rows[Tombstone]:
        """All tombstones by now; what was judged by these is judged anew once they are others.

        Raises:
            PersonaError: They cannot be read.
        """
        return self._tombstones.document.read().rows

    def stands(self, text: str, tags: Iterable[str] = (), beside: Iterable[str | None] = ()) -> bool:
        """Return whether this text was erased, with these tags or without any, or one that comes along with it.

        The kind does not matter: other programs have other kinds, and a person who erased a text meant the text.

        Args:
            text: The main text.
            tags: Its tags; each counts as a text of its own, too, if it is long enough to be none that others use.
            beside: Its source or note.

        Raises:
            CorruptError: There are tombstones, but the key to read them is gone.
        """
        return self._tombstones.any_stands(_all_stones(text, list(tags), beside))

    def stands_in(self, raw: bytes) -> bool:
        """Return whether a row holds a text that was erased, in whatever field; as ``stands``."""
        return self._tombstones.any_stands(_stones_in(raw))

    def stone_in(self, row: Mapping[str, Any]) -> str | None:
        """Return what the tombstone is made of that keeps a row out; None where none does. As ``stands``."""
        if not self._tombstones.any_stands(stones_of(dict(row))):
            return None
        return next(filter(self._tombstones.stands, stones_of(dict(row))), None)

    def among(self, row: Mapping[str, Any], ids: Collection[str]) -> frozenset[str]:
        """Return which of some tombstones keep a row out by what it says, whether or not they stand."""
        said = {name: value for name, value in row.items() if name not in _ABOUT}
        return self._tombstones.among(stones_of(said), ids)

    def said_after(self, row: Mapping[str, Any], moment: str) -> bool:
        """Return whether a person said a row first after a moment; not so where either does not tell when."""
        with suppress(InvalidError):
            then = clock.parse(moment)
            said = [clock.parse(at) for at in map(row.get, _SAID) if isinstance(at, str)]
            return row.get("origin") == "user" and any(at > then for at in said)
        return False

    def without(self, rows: Sequence[Row[T]]) -> list[Row[T]]:
        """Return the rows of which none holds a text that was erased; as ``stands``."""
        return [row for row in rows if not self.stands_in(row.raw)]

    def require(self, text: str, tags: Iterable[str] = (), beside: Iterable[str | None] = ()) -> None:
        """Refuse a text that was erased, alone or with what comes along with it; see ``stands``.

        Raises:
            RefusedError: It was; its reason is ``ERASED``.
            CorruptError: As ``stands``.
        """
        if self.stands(text, tags, beside):
            raise RefusedError(
                phrase(
                    "This was erased for good, so it is not taken in again. A person who wants it back says so: "
                    "`/mind remember … --insist`, or `/mind backlog add … --insist`."
                ),
                reason=ERASED,
                field="text",
            )

    def require_finished(self, text: str, beside: Iterable[str | None] = ()) -> None:
        """Refuse a text that is just being erased, whoever insists: finishing that would take it away again.

        Raises:
            RefusedError: It is; its reason is ``erasing``.
            CorruptError, UnsupportedVersionError: The note of what is being erased cannot be read.
        """
        from persona_mind.kernel.unfinished import UnfinishedErasures  # noqa: PLC0415 - few insist

        said = {folded_text(one) for one in (text, *beside) if one}
        if any(
            folded_text(going) in said for begun in UnfinishedErasures(self._profile).begun() for going in begun.texts
        ):
            raise RefusedError(
                phrase("This is still being erased. Erase it once more, which finishes that; then say it again."),
                reason="erasing",
                field="text",
            )

    def lift(
        self, transaction: Transaction, text: str, tags: Iterable[str] = (), beside: Iterable[str | None] = ()
    ) -> bool:
        """Let a text come in again, since its person insists; return whether it had been erased."""
        every = dict.fromkeys(_all_stones(text, list(tags), beside))
        return bool([one for one in every if self._tombstones.lift(transaction, one)])


def stone(text: str) -> str:
    """Return what the tombstone of a text as it is spelled is made of, whatever its kind and its tags were."""
    return semantic(key(KINDS[-1], text, ()))


def stones(text: str) -> tuple[str, ...]:
    """Return what the tombstones of a text are made of: its own, and that of all its spellings where it is another."""
    return stone(text), *_folded(normal_text(text))


def stone_of_id(handle: str) -> str:
    """Return what the tombstone of an id is made of: it tells that there is nothing left to erase under that id."""
    return f"id:{handle}"


def stone_of_row(row: Mapping[str, Any]) -> str | None:
    """Return what the tombstone of a document's row is made of; None for a row that has no text."""
    arguments = row.get("arguments")
    text = arguments.get("text") if isinstance(arguments, dict) else row.get("text")
    return stone(text) if isinstance(text, str) else None


def _all_stones(text: str, tags: list[str], beside: Iterable[str | None]) -> Iterator[str]:
    yield from _stones(text, tags)
    for one in (*(tag for tag in tags if len(tag.strip()) >= LONG_ENOUGH), *beside):
        if one:
            yield from _stones(one, ())


def _stones_in(raw: bytes) -> Iterator[str]:
    """Yield what the tombstones of a row's texts would be made of. Nothing is decoded before somebody asks."""
    yield from stones_of(decode_row(raw))


def stones_of(row: JsonValue) -> Iterator[str]:
    """Yield what the tombstones would be made of that keep a row out. Nothing is worked out before somebody asks."""
    from persona_mind.kernel.intake import strings  # noqa: PLC0415 - few commands take rows in

    fields = row if isinstance(row, dict) else {}
    arguments = fields.get("arguments")
    fields = arguments if isinstance(arguments, dict) else fields
    tags = fields.get("tags")
    words = [word for word in (tags if isinstance(tags, list) else ()) if isinstance(word, str)]
    named = [value for value in map(fields.get, _WORDS) if isinstance(value, str)]
    for text in named:
        yield from _stones(text, words)
    for text in strings(row):
        if len(text.strip()) >= LONG_ENOUGH:
            yield from _stones(text, ())


def _stones(text: str, tags: Iterable[str]) -> Iterator[str]:
    """Yield what the tombstones of a text would be made of; nothing is worked out before somebody asks."""
    plain = key(BACKLOG, text, tags)
    for kind in (*KINDS, BACKLOG):
        for kept in {plain.tags, ()}:
            yield semantic(Key(kind, plain.text, kept))
    yield from _folded(plain.text)


def _folded(plain: str) -> Iterator[str]:
    """Yield what the tombstone of all spellings of a normalised text is made of, where that is another one."""
    folded = folded_text(plain)
    if folded != plain:
        yield semantic(Key(KINDS[-1], folded, ()))

"""What was erased and must not come back, under whatever kind, tags or id it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel.identity import Key, key, normal_text, semantic
from persona_mind.kernel.kinds import KINDS
from persona_store.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from persona_store.transaction import Profile, Transaction

BACKLOG: Final = "backlog"
"""What stands in an item's identity where a fact has its kind."""
ERASED: Final = "erased"
"""The reason of a refusal that only a person who insists can lift."""


class Erased:
    """The tombstones of a profile, asked by text. Making it touches no disk."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._tombstones = Tombstones(profile)

    def stands(self, text: str, tags: Iterable[str] = ()) -> bool:
        """Return whether this text was erased, with these tags or without any.

        The kind does not matter: other programs have other kinds, and a person who erased a text meant the text.

        Raises:
            CorruptError: There are tombstones, but the key to read them is gone.
        """
        return self._tombstones.any_stands(_stones(text, tags))

    def require(self, text: str, tags: Iterable[str] = ()) -> None:
        """Refuse a text that was erased.

        Raises:
            RefusedError: It was; its reason is ``ERASED``.
            CorruptError: As ``stands``.
        """
        if self.stands(text, tags):
            raise RefusedError(
                phrase(
                    "This was erased for good, so it is not taken in again. A person who wants it back says so: "
                    "`/mind remember … --insist`."
                ),
                reason=ERASED,
                field="text",
            )

    def require_finished(self, text: str) -> None:
        """Refuse a text that is just being erased, whoever insists: finishing that would take it away again.

        Raises:
            RefusedError: It is; its reason is ``erasing``.
            CorruptError: The note of what is being erased cannot be read.
        """
        from persona_mind.kernel.unfinished import Plan  # noqa: PLC0415 - few insist

        said = normal_text(text)
        if any(said == normal_text(going) for begun in Plan(self._profile).begun() for going in begun.texts):
            raise RefusedError(
                phrase("This is still being erased. Erase it once more, which finishes that; then say it again."),
                reason="erasing",
                field="text",
            )

    def lift(self, transaction: Transaction, text: str, tags: Iterable[str] = ()) -> bool:
        """Let a text come in again, since its person insists; return whether it had been erased."""
        standing = [stone for stone in _stones(text, tags) if self._tombstones.stands(stone)]
        for stone in standing:
            self._tombstones.lift(transaction, stone)
        return bool(standing)


def stone(text: str) -> str:
    """Return what the tombstone of a text is made of, whatever its kind and its tags were."""
    return semantic(key(KINDS[-1], text, ()))


def stone_of_id(handle: str) -> str:
    """Return what the tombstone of an id is made of: it tells that there is nothing left to erase under that id."""
    return f"id:{handle}"


def stone_of_row(row: Mapping[str, Any]) -> str | None:
    """Return what the tombstone of a document's row is made of; None for a row that has no text."""
    arguments = row.get("arguments")
    text = arguments.get("text") if isinstance(arguments, dict) else row.get("text")
    return stone(text) if isinstance(text, str) else None


def _stones(text: str, tags: Iterable[str]) -> Iterator[str]:
    """Yield what the tombstones of a text would be made of; nothing is worked out before somebody asks."""
    plain = key(BACKLOG, text, tags)
    for kind in (*KINDS, BACKLOG):
        for kept in {plain.tags, ()}:
            yield semantic(Key(kind, plain.text, kept))

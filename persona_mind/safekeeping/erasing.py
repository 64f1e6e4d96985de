"""Erasing for good: begun on paper, done by the engine in every file, in the recorder and in what is kept in memory."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import UNCHANGED, RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel.erased import stone_of_id, stone_of_row, stones
from persona_mind.kernel.unfinished import Begun, UnfinishedErasures
from persona_mind.safekeeping.naming import holding, says_the_same
from persona_store.oserrors import partly
from persona_store.rows import RawCodec
from persona_store.tombstones import Tombstones
from persona_store.transaction import instant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from persona_mind.kernel.access import Permit
    from persona_mind.recorder.service import Recorder
    from persona_mind.safekeeping.naming import Holding, Named
    from persona_store.erase import Erased, Target
    from persona_store.transaction import Profile

_NAMED: Final = 5


class Finished(NamedTuple):
    """How many interrupted erasures were completed, and whether anything was changed for them."""

    number: int
    changed: bool


@dataclass(slots=True)
class _Logs:
    """The recorder's logs in backups, as a place of the engine's; they hold ids and no words."""

    root: Path
    ids: tuple[str, ...]

    def erase(self, target: Target) -> list[str]:
        """Take turns with one of the ids out."""
        from persona_store.copies import sweep_backups  # noqa: PLC0415 - few commands erase

        del target
        return sweep_backups(self.root, self)

    def in_bytes(self, data: bytes) -> bool:
        """Leave whatever is no log."""
        del data
        return False

    def in_row(self, raw: bytes) -> bool:
        """Return whether a row is a turn in which one of the ids stood."""
        row = RawCodec().decode(raw)
        items = row.get("items") if row is not None else None
        listed = items if isinstance(items, list) else []
        return any(isinstance(item, dict) and item.get("id") in self.ids for item in listed)


@dataclass(frozen=True, slots=True)
class Erasing:
    """Erasing in one profile.

    Attributes:
        profile: Whose files are swept.
        recorder: Its logs of ids.
        forget: Lets go of what this process keeps in memory of some texts, by the hashes that vectors have.
    """

    profile: Profile
    recorder: Recorder
    forget: Callable[[frozenset[bytes]], None]

    def was_erased(self, handle: str) -> bool:
        """Return whether something was erased under this id."""
        return Tombstones(self.profile).stands(stone_of_id(handle))

    def erase(self, named: Named, outside: Iterable[Path], permit: Permit, *, everywhere: bool) -> Erased:
        """Erase what an id names, wherever its words stand.

        Raises:
            RefusedError: Other memories contain the words, and nobody asked for these to go; nothing was changed.
            UncertainError, StorageError, BusyError: It is finished by erasing again, or at the next quiet moment.
        """
        begun = self._begin(named, permit, everywhere=everywhere)
        with partly():
            return self._run(begun, outside, permit)

    def _begin(self, named: Named, permit: Permit, *, everywhere: bool) -> Begun:
        """Let nobody say the words again, and write down what is to go.

        In one transaction: whatever is acknowledged before it is seen here, and whatever comes later is refused, or
        is none of what goes.
        """
        with self.profile.transaction(permit) as transaction:
            begun = self._planned(named, everywhere=everywhere)
            Tombstones(self.profile).add(transaction, begun.keys, instant(self.profile.now()))
            with partly():
                UnfinishedErasures(self.profile).add(transaction, begun)
        return begun

    def _planned(self, named: Named, *, everywhere: bool) -> Begun:
        from persona_mind.meaning.segments import said_of  # noqa: PLC0415 - few commands erase
        from persona_store.erase import Target  # noqa: PLC0415 - as above

        words = Target(named.texts, ())
        found = list(holding(self.profile, words))
        others = [row for row in found if not says_the_same(row.text, named.texts)]
        if others and not everywhere:
            raise _contained(others)
        texts = dict.fromkeys((*named.texts, *(row.text for row in found if words.in_value(row.text))))
        ids = dict.fromkeys((*sorted(named.ids), *(row.id for row in found if row.id)))
        keys = {one for text in (*texts, *(row.text for row in found if row.text)) for one in stones(text)}
        keys |= {stone_of_id(handle) for handle in ids}
        whole = sorted({said_of(text).hex() for text in (*texts, *(row.text for row in found if row.text))})
        return Begun(id=named.id, texts=tuple(texts), keys=tuple(sorted(keys)), ids=tuple(ids), whole=tuple(whole))

    def finish(self) -> Finished:
        """Complete every erasure that was interrupted.

        What was said since it began stays, even where it contains the words: only what a tombstone refuses goes.

        Raises:
            PersonaError: One cannot be completed yet.
        """
        runs = [self._run(one, (), None) for one in UnfinishedErasures(self.profile).begun()]
        return Finished(sum(run.complete for run in runs), any(run.complete or run.changed for run in runs))

    def _run(self, begun: Begun, outside: Iterable[Path], permit: Permit | None) -> Erased:
        from persona_mind.meaning.files import VectorFiles  # noqa: PLC0415 - few commands erase
        from persona_mind.meaning.segments import said_of  # noqa: PLC0415 - as above
        from persona_store.erase import Target, erase  # noqa: PLC0415 - as above

        # An erasure that an earlier release began has no hashes.
        saids = frozenset((*map(bytes.fromhex, begun.whole), *map(said_of, begun.texts)))
        places = (_Logs(self.profile.root, begun.ids),)
        try:
            with partly():
                # Its logs have locks of their own, and their previous versions go with those of all documents.
                dropped = self.recorder.drop(begun.ids, permit)
            with partly() if dropped else nullcontext():
                target = Target(begun.texts, begun.keys, stone_of_row)
                done = erase(self.profile, target, places=places, outside=outside, check=permit)
        finally:
            self.forget(saids)
        with partly():
            # After the documents: whatever is read from now on is read from what stands there.
            vectors = VectorFiles(self.profile).drop(saids)
            if done.complete:
                UnfinishedErasures(self.profile).drop(begun)
        return replace(done, changed=(*done.changed, *vectors))


def _contained(others: list[Holding]) -> RefusedError:
    ids = [row.id for row in others if row.id]
    listed = ", ".join(ids[:_NAMED])
    if len(others) > _NAMED:
        listed = phrase("{listed} and {number} more", listed=listed, number=len(others) - _NAMED)
    return RefusedError(
        phrase(
            "Other memories contain the same words: {listed}; {unchanged}. Erase or forget "
            "these first, or say `--everywhere` to erase them, too.",
            listed=listed,
            unchanged=UNCHANGED,
        ),
        reason="contained",
        ids=ids[:_NAMED],
        total=len(others),
    )

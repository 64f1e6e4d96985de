"""Which turns come first for a question or a cue: the one way in which conversations are ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_mind.recall import CONVERSATION, Doc, Index
from persona_mind.recall.pool import no_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.kernel.compared import Compared
    from persona_mind.recall import Hit
    from persona_mind.recall.pool import Sources
    from persona_mind.sessions.model import Turn


class Ranking:
    """An index of turns. It holds no truth, reads no file and asks no clock; one owner at a time.

    Args:
        meaning: Returns the model by which meanings are compared, where one is set.
    """

    def __init__(self, *, meaning: Sources = no_source) -> None:
        self._index = Index(meaning=meaning, kind="turns")
        self._turns: dict[str, Turn] = {}

    def __len__(self) -> int:
        return len(self._index)

    def sync(self, turns: Iterable[Turn]) -> None:
        """Make it hold exactly these turns; only those that differ are analysed."""
        self._turns = {turn.key: turn for turn in turns}
        self._index.sync(map(_doc, self._turns.values()))

    @property
    def compared(self) -> Compared | None:
        """How far meaning took part in the last ranking; None where no model is set."""
        return self._index.compared

    def prepare(self) -> None:
        """Have every turn read for likeness of meaning, before anybody asks."""
        self._index.prepare()

    def rank(self, query: str, k: int, *, now: float | None = None) -> list[tuple[Turn, Hit]]:
        """Return the best ``k`` turns for a question or a cue, best first, each with why.

        Args:
            query: A question, a cue or some words; the newest turns where there is nothing to look for in it.
            k: How many at most.
            now: The moment that "yesterday" is counted from; by default the time of the newest turn.
        """
        return [(self._turns[hit.key], hit) for hit in self._index.search(query, k, CONVERSATION, now=now)]

    def count(self, query: str) -> int:
        """Return how many turns hold a word of the query, or all where it names none."""
        return self._index.count(query, CONVERSATION)


def rank(turns: Iterable[Turn], query: str, k: int) -> list[Turn]:
    """Return the best ``k`` of some turns for a query; whoever asks more than once keeps a ``Ranking``."""
    ranking = Ranking()
    ranking.sync(turns)
    return [turn for turn, _ in ranking.rank(query, k)]


def _doc(turn: Turn) -> Doc:
    return Doc(turn.key, turn.text, (turn.speaker,) if turn.speaker else (), turn.session, turn.place, turn.at)

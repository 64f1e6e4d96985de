"""Vectors of what an index holds: taken from a pool, centred on their mean, compared with a question's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from persona_mind.recall.pool import Patience

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from persona_mind.recall.pool import Pool, Reading

UNUSUAL = 1.0
"""Standard deviations above the usual likeness from which meaning alone makes an item a candidate."""
FEW = 8
"""Items that a mean and a spread are worth beforehand, so that an index of one or two is not judged by itself."""
USUAL_SPREAD = 0.1
"""The spread of likeness to assume beforehand; sentence models show about this on everyday text."""
AT_ONCE = 16
"""So few texts that have no vector yet are read while somebody waits; more are left to the background."""


class Likeness:
    """How like each item is to one query, in standard deviations above what is usual.

    Attributes:
        share: The part of the items that have a vector, 0 to 1.
    """

    def __init__(self, values: NDArray[np.float32], held: NDArray[np.bool_], share: float) -> None:
        self._values = values
        self._held = held
        self.share = share

    def best(self, most: int) -> list[int]:
        """Return the slots likest to the query, best first, those that are unusually like."""
        values = np.where(self._held, self._values, -np.inf)
        top = np.argpartition(-values, most)[:most] if most < len(values) else np.arange(len(values))
        return [int(slot) for slot in top[np.argsort(-values[top], kind="stable")] if values[slot] >= UNUSUAL]

    def values(self, slots: Iterable[int]) -> dict[int, float]:
        """Return the likeness of those of the slots that have a vector."""
        size = len(self._values)
        return {slot: float(self._values[slot]) for slot in slots if slot < size and self._held[slot]}


class Vectors:
    """The vectors of one index. Not thread-safe; one owner at a time.

    Of more items than a pool lets take part, those that were put last have vectors.

    Args:
        pool: Where they come from.
    """

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self._put: dict[int, None] = {}
        self._waiting: dict[int, Reading] = {}
        self._slots: dict[bytes, set[int]] = {}
        self._seen = 0
        self._rows: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._held: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._centre: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None

    @property
    def held(self) -> int:
        """How many items have a vector."""
        return int(self._held.sum())

    def put(self, slot: int, reading: Reading) -> None:
        """Take over the vector of a text, or have it read."""
        self.drop(slot)
        self._put[slot] = None
        if len(self._put) > self.pool.most:
            self._let_go(next(iter(self._put)))
        row = self.pool.get(reading.key)
        if row is not None:
            self._set(slot, row)
            return
        self._waiting[slot] = reading
        self._slots.setdefault(reading.key, set()).add(slot)
        self.pool.want(reading)

    def drop(self, slot: int) -> None:
        """Forget the vector of a slot."""
        self._put.pop(slot, None)
        waiting = self._waiting.pop(slot, None)
        if waiting is not None:
            self._slots[waiting.key].discard(slot)
        if slot < len(self._held) and self._held[slot]:
            self._held[slot] = False
            self._rows[slot] = 0.0
            self._centre = None

    def _let_go(self, slot: int) -> None:
        waiting = self._waiting.get(slot)
        if waiting is not None:
            self.pool.cancel(waiting.key)
        self.drop(slot)

    def likeness(self, query: str, patience: Patience) -> Likeness | None:
        """Compare every vector with a question's; ``None`` while there is none, or the question's takes too long."""
        self._take_over()
        few = patience is Patience.ASKED and 0 < len(self._waiting) <= AT_ONCE
        vector = self.pool.question(query, patience) if few or self._held.any() else None
        if vector is None:
            return None
        if few:
            self.pool.read(list(self._waiting.values()), patience)
            self._take_over()
        if not self._held.any() or len(vector) != self._rows.shape[1]:
            return None
        centre, lengths = self._centred()
        moved = vector - centre
        scale = float(np.linalg.norm(moved)) or 1.0
        cosines = (self._rows @ moved - float(centre @ moved)) / (lengths * scale)
        among = cosines[self._held]
        mean = float(among.sum()) / (len(among) + FEW)
        spread = float(((among - mean) ** 2).sum() + FEW * USUAL_SPREAD**2) / (len(among) + FEW)
        return Likeness((cosines - mean) / spread**0.5, self._held, len(among) / (len(among) + len(self._waiting)))

    def _take_over(self) -> None:
        """Take over the vectors that became known since the last time."""
        self._seen, news = self.pool.news(self._seen)
        for key in news:
            row = self.pool.get(key) if key in self._slots else None
            if row is not None:
                for slot in self._slots.pop(key):
                    del self._waiting[slot]
                    self._set(slot, row)

    def _set(self, slot: int, row: NDArray[np.float32]) -> None:
        if slot >= len(self._rows) or self._rows.shape[1] != len(row):
            size = max(64, 2 * len(self._rows), slot + 1)
            rows = np.zeros((size, len(row)), np.float32)
            held = np.zeros(size, np.bool_)
            if self._rows.shape[1] == len(row):
                rows[: len(self._rows)] = self._rows
                held[: len(self._held)] = self._held
            self._rows, self._held = rows, held
        self._rows[slot] = row
        self._held[slot] = True
        self._centre = None

    def _centred(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the mean of the vectors, and the length of each once the mean is taken off."""
        if self._centre is None:
            rows = self._rows
            count = int(self._held.sum())
            centre = rows.sum(axis=0) / np.float32(count + FEW)
            squares = np.einsum("ij,ij->i", rows, rows) - 2.0 * (rows @ centre) + float(centre @ centre)
            self._centre = centre, np.sqrt(np.maximum(squares, 1e-12))
        return self._centre

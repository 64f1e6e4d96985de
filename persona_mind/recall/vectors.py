"""Vectors of what an index holds: cached by content, centred on their mean, compared with a query's."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, MutableMapping

    from numpy.typing import NDArray

    from persona_mind.recall.embed import Embedder

UNUSUAL = 1.0
"""Standard deviations above the usual likeness from which meaning alone makes an item a candidate."""
FEW = 8
"""Items that a mean and a spread are worth beforehand, so that an index of one or two is not judged by itself."""
USUAL_SPREAD = 0.1
"""The spread of likeness to assume beforehand; sentence models show about this on everyday text."""
_QUERIES_KEPT = 64


def vector_key(model: str, text: str) -> str:
    """Return the key under which the cache holds the vector that a model gave a text."""
    return hashlib.sha256(f"{model}\0{text}".encode()).hexdigest()


class Likeness:
    """How like each item is to one query, in standard deviations above what is usual."""

    def __init__(self, values: NDArray[np.float32], held: NDArray[np.bool_]) -> None:
        self._values = values
        self._held = held

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
    """The vectors of one index.

    Args:
        embedder: The model.
        cache: Holds vectors beyond this process, by :func:`vector_key`, as little-endian half floats; in memory
            when none is given. Erasing a text means deleting its key here too: see :meth:`forget`.
    """

    def __init__(self, embedder: Embedder, cache: MutableMapping[str, bytes] | None = None) -> None:
        self._embedder = embedder
        self._cache: MutableMapping[str, bytes] = {} if cache is None else cache
        self._pending: dict[int, str] = {}
        self._rows: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._held: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._centre: tuple[NDArray[np.float32], NDArray[np.float32]] | None = None
        self._queries: dict[str, NDArray[np.float32]] = {}

    @property
    def pending(self) -> int:
        """How many items still want a vector."""
        return len(self._pending)

    def put(self, slot: int, text: str) -> None:
        """Take over the vector of a text from the cache, or note that it is wanted."""
        self.drop(slot)
        held = self._cache.get(vector_key(self._embedder.name, text))
        if held is None:
            self._pending[slot] = text
        else:
            self._set(slot, np.frombuffer(held, "<f2").astype(np.float32))

    def drop(self, slot: int) -> None:
        """Forget the vector of a slot; the cache keeps the text's until :meth:`forget`."""
        self._pending.pop(slot, None)
        if slot < len(self._held) and self._held[slot]:
            self._held[slot] = False
            self._rows[slot] = 0.0
            self._centre = None

    def forget(self, text: str) -> None:
        """Take a text's vector out of the cache."""
        self._cache.pop(vector_key(self._embedder.name, text), None)

    def fill(self, most: int) -> int:
        """Work out the vectors of at most so many pending items, and return how many are left."""
        batch = dict(list(self._pending.items())[:most])
        if batch:
            for (slot, text), row in zip(batch.items(), self._embedder.embed(list(batch.values())), strict=True):
                half = row.astype("<f2")
                self._cache[vector_key(self._embedder.name, text)] = half.tobytes()
                self._set(slot, half.astype(np.float32))
                del self._pending[slot]
        return len(self._pending)

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

    def likeness(self, query: str) -> Likeness | None:
        """Compare every vector with a query's; ``None`` while there is none."""
        if not self._held.any():
            return None
        vector = self._query(query)
        if len(vector) != self._rows.shape[1]:
            return None
        centre, lengths = self._centred()
        moved = vector - centre
        scale = float(np.linalg.norm(moved)) or 1.0
        cosines = (self._rows @ moved - float(centre @ moved)) / (lengths * scale)
        among = cosines[self._held]
        mean = float(among.sum()) / (len(among) + FEW)
        spread = float(((among - mean) ** 2).sum() + FEW * USUAL_SPREAD**2) / (len(among) + FEW)
        return Likeness((cosines - mean) / spread**0.5, self._held)

    def _query(self, text: str) -> NDArray[np.float32]:
        key = vector_key(self._embedder.name, text)
        vector = self._queries.pop(key, None)
        if vector is None:
            vector = self._embedder.embed([text])[0]
            while len(self._queries) >= _QUERIES_KEPT:
                del self._queries[next(iter(self._queries))]
        self._queries[key] = vector
        return vector

    def _centred(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return the mean of the vectors, and the length of each once the mean is taken off."""
        if self._centre is None:
            rows = self._rows
            count = int(self._held.sum())
            centre = rows.sum(axis=0) / np.float32(count + FEW)
            squares = np.einsum("ij,ij->i", rows, rows) - 2.0 * (rows @ centre) + float(centre @ centre)
            self._centre = centre, np.sqrt(np.maximum(squares, 1e-12))
        return self._centre

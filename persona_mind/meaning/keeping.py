"""The vectors of one kind of thing, in memory: what is known, what is wanted, what is not on disk yet."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from persona_mind.meaning.segments import Record, said_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from persona_mind.recall.pool import Patience, Reading

HALF = np.dtype("<f2")


class Kept:
    """A pool; see ``recall.pool.Pool``. Safe to use from several threads.

    Args:
        limit: Vectors that are held, and wishes that are open, at most; the oldest make room.
        wanted: Told that there is something to read.
        ask: Has a few texts read at once.
        question: Returns the vector of a question.
    """

    def __init__(
        self,
        limit: int,
        *,
        wanted: Callable[[], None],
        ask: Callable[[Kept, Sequence[Reading], Patience], None],
        question: Callable[[str, Patience], NDArray[np.float32] | None],
    ) -> None:
        self._limit = limit
        self._wanted = wanted
        self._ask = ask
        self.question = question
        self._known: dict[bytes, bytes] = {}
        self._said: dict[bytes, bytes] = {}
        self._queue: dict[bytes, Reading] = {}
        self._fresh: dict[bytes, Reading] = {}
        self._news: list[bytes] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._known)

    @property
    def waiting(self) -> int:
        """How many texts are still to be read."""
        return len(self._queue)

    @property
    def fresh(self) -> int:
        """How many vectors are not on disk yet."""
        return len(self._fresh)

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """Return the vector of a text by its key, if it has been read."""
        held = self._known.get(key)
        return None if held is None else np.frombuffer(held, HALF).astype(np.float32)

    def want(self, reading: Reading) -> None:
        """Have a text read when there is time; what was wanted last is read first."""
        with self._lock:
            self._queue.pop(reading.key, None)
            if reading.key in self._known:
                return
            self._queue[reading.key] = reading
            if len(self._queue) > self._limit:
                del self._queue[next(iter(self._queue))]
        self._wanted()

    def cancel(self, key: bytes) -> None:
        """Do not have a text read that was wanted."""
        with self._lock:
            self._queue.pop(key, None)

    def news(self, since: int) -> Sequence[bytes]:
        """Return the keys whose vectors became known after the first ``since`` of them."""
        return self._news[since:]

    def read(self, readings: Sequence[Reading], patience: Patience) -> None:
        """Have a few texts read before others; return when that is done or took too long."""
        self._ask(self, readings, patience)

    def load(self, records: Iterable[Record]) -> None:
        """Take in what was kept."""
        with self._lock:
            for key, said, vector in records:
                self._known[key] = vector
                self._said[key] = said
            self._news.extend(self._known)

    def next(self, most: int) -> list[Reading]:
        """Return the texts to read next."""
        with self._lock:
            return [self._queue[key] for key, _ in zip(reversed(self._queue), range(most), strict=False)]

    def take(self, readings: Sequence[Reading], rows: NDArray[np.float32]) -> None:
        """Take in the vectors of texts, unless they are not wanted any more."""
        with self._lock:
            for reading, row in zip(readings, rows.astype(HALF), strict=True):
                if self._queue.pop(reading.key, None) is not None:
                    self._known[reading.key] = row.tobytes()
                    self._said[reading.key] = said_of(reading.said)
                    self._fresh[reading.key] = reading
                    self._news.append(reading.key)
            while len(self._known) > self._limit:
                self._forget(next(iter(self._known)))

    def pour(self, allowed: Callable[[Reading], bool]) -> list[Record]:
        """Return what is to be kept on disk, and count it as kept; what is not allowed stays in memory only."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
            return [Record(key, self._said[key], self._known[key]) for key, one in fresh.items() if allowed(one)]

    def drop(self, saids: Collection[bytes]) -> None:
        """Forget the vectors of texts that were erased, and do not read them."""
        with self._lock:
            for key in [key for key, said in self._said.items() if said in saids]:
                self._forget(key)
            for key in [key for key, one in self._queue.items() if said_of(one.said) in saids]:
                del self._queue[key]

    def _forget(self, key: bytes) -> None:
        del self._known[key], self._said[key]
        self._fresh.pop(key, None)

    def clear(self) -> None:
        """Forget everything; what is still wanted is wanted again by whoever looks."""
        with self._lock:
            for part in (self._known, self._said, self._queue, self._fresh):
                part.clear()

"""The vectors of one kind of thing, in memory: what is known, what is wanted, what is not on disk yet."""

from __future__ import annotations

import math
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
        limit: Vectors that are held, and wishes that are open, at most; of the vectors, what was said first makes room.
        wanted: Told that there is something to read.
        ask: Has a few texts read at once.
        question: Returns the vector of a question.

    Attributes:
        most: How many of one index take part.
        question: As given.
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
        self.most = limit * 2 // 3
        self._wanted = wanted
        self._ask = ask
        self.question = question
        self._known: dict[bytes, Record] = {}
        self._queue: dict[bytes, Reading] = {}
        self._fresh: dict[bytes, Reading] = {}
        self._news: list[bytes] = []
        self._past_news = 0
        self._wishes = 0
        self._floor = -math.inf
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
        return None if held is None else np.frombuffer(held.vector, HALF).astype(np.float32)

    def want(self, reading: Reading) -> None:
        """Have a text read when there is time; what was wanted last is read first.

        What was said before all that had to make room is not read again. What has no time counts as older than what
        has, and among its like by when it was first wanted.
        """
        with self._lock:
            self._queue.pop(reading.key, None)
            self._wishes += 1
            at = float(self._wishes) if reading.at is None else reading.at
            if reading.key in self._known or at <= self._floor:
                return
            self._queue[reading.key] = reading._replace(at=at)
            if len(self._queue) > self._limit:
                del self._queue[next(iter(self._queue))]
        self._wanted()

    def cancel(self, key: bytes) -> None:
        """Do not have a text read that was wanted."""
        with self._lock:
            self._queue.pop(key, None)

    def news(self, since: int) -> tuple[int, Sequence[bytes]]:
        """Return where one is up to date then, and the keys whose vectors became known since an earlier such moment."""
        with self._lock:
            now = self._past_news + len(self._news)
            return now, list(self._known) if since < self._past_news else self._news[since - self._past_news :]

    def read(self, readings: Sequence[Reading], patience: Patience) -> None:
        """Have a few texts read before others; return when that is done or took too long."""
        self._ask(self, readings, patience)

    def load(self, records: Iterable[Record]) -> None:
        """Take in what was kept; all vectors are of one length."""
        held = list(records)
        if not held:
            return
        rows = np.frombuffer(b"".join([record.vector for record in held]), HALF).reshape(len(held), -1)
        for at in np.flatnonzero(_spoiled(rows)):
            held[at] = held[at]._replace(vector=bytes(rows[at].nbytes))
        with self._lock:
            self._put(held)

    def next(self, most: int) -> list[Reading]:
        """Return the texts to read next."""
        with self._lock:
            return [self._queue[key] for key, _ in zip(reversed(self._queue), range(most), strict=False)]

    def take(self, readings: Sequence[Reading], rows: NDArray[np.float32]) -> None:
        """Take in the vectors of texts, unless they are not wanted any more."""
        with np.errstate(over="ignore"):
            halves = rows.astype(HALF)
        halves[_spoiled(halves)] = 0
        with self._lock:
            new: list[Record] = []
            for reading, row in zip(readings, halves, strict=True):
                wanted = self._queue.pop(reading.key, None)
                if wanted is not None:
                    self._fresh[reading.key] = wanted
                    new.append(Record(reading.key, said_of(wanted.said), row.tobytes(), wanted.at or 0.0))
            self._put(new)

    def _put(self, records: list[Record]) -> None:
        self._known.update((record.key, record) for record in records)
        self._news.extend(record.key for record in records)
        if len(self._known) > self._limit:
            # More than must go, since looking for the oldest takes a while.
            number = len(self._known) - (self._limit - self._limit // 8)
            oldest = sorted(self._known.values(), key=_at)[:number]
            for record in oldest:
                self._forget(record.key)
            self._floor = oldest[-1].at
        if len(self._news) > 2 * self._limit:
            self._past_news += len(self._news)
            self._news.clear()

    def pour(self, allowed: Callable[[Reading], bool]) -> list[Record]:
        """Return what is to be kept on disk, what was said first in front; forget what is not allowed."""
        with self._lock:
            fresh, self._fresh = self._fresh, {}
            kept: list[Record] = []
            for key, reading in fresh.items():
                if allowed(reading):
                    kept.append(self._known[key])
                else:
                    self._forget(key)
            return sorted(kept, key=_at)

    def drop(self, saids: Collection[bytes]) -> None:
        """Forget the vectors of texts that were erased, and do not read them."""
        with self._lock:
            for key in [key for key, record in self._known.items() if record.said in saids]:
                self._forget(key)
            for key in [key for key, one in self._queue.items() if said_of(one.said) in saids]:
                del self._queue[key]
            self._floor = -math.inf

    def _forget(self, key: bytes) -> None:
        del self._known[key]
        self._fresh.pop(key, None)

    def clear(self) -> None:
        """Forget everything; what is still wanted is wanted again by whoever looks."""
        with self._lock:
            for part in (self._known, self._queue, self._fresh):
                part.clear()
            self._floor = -math.inf


def _at(record: Record) -> float:
    return record.at


def _spoiled(rows: NDArray[np.float16]) -> NDArray[np.bool_]:
    """Return which rows are no vectors, as of a model that overflowed: they are kept as like nothing at all."""
    return np.asarray(~np.isfinite(rows).all(axis=1))

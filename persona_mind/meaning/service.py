"""One model, its vectors and its thread: what a setting comes to.

Answers never wait for what was not read yet: the model is loaded, and texts are read, on a thread of its own, and a
search uses the vectors that are there.
"""

from __future__ import annotations

import math
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from persona_hooks.errors import CorruptError, NotFoundError, PersonaError
from persona_hooks.speech import phrase, say, thousands, worded
from persona_mind.kernel.compared import VECTORS
from persona_mind.kernel.erased import stones
from persona_mind.meaning.files import LIMITS, VectorFiles
from persona_mind.meaning.worker import Worker
from persona_mind.recall.pool import Patience, key_of
from persona_store.tombstones import Tombstones

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from persona_mind.kernel.compared import State
    from persona_mind.meaning.keeping import Kept
    from persona_mind.recall.embed import Embedder
    from persona_mind.recall.pool import Kind, Reading
    from persona_store.transaction import Profile

SECONDS: Final = {Patience.ASKED: 0.5, Patience.PASSING: 0.15}
"""How long an answer waits for the vector of its question."""
LOADING: Final = 2.0
"""How long somebody who asked waits for a model that is still being loaded."""
BATCH: Final = 8
"""Texts that are read in one piece: so much a question waits for at worst."""
POURED: Final = 512
"""Vectors that are written together while there are more to come."""
LONG: Final = 400
"""Texts still to be read of which a person is told, once."""
SAVING: Final = 0.5
"""Seconds for which the end of a session waits for what was read to be written."""
LINGER: Final = 30.0
"""Seconds for which a model stays after its session, so that the next one need not load it."""
_QUESTIONS: Final = 64


class Examined(NamedTuple):
    """How a model fares.

    Attributes:
        source: What the setting names.
        state: ``ready``, ``starting`` or ``failed``.
        trouble: What is wrong and what to do, where it failed.
        width: Numbers in one vector.
        held: Vectors there are of facts and of turns.
        waiting: Texts still to be read, of both.
        late: Questions that were answered by words alone, since their vectors took too long.
    """

    source: str
    state: str
    trouble: str
    width: int
    held: tuple[int, int]
    waiting: int
    late: int


class Meaning:
    """The model of one profile. Making it loads nothing and touches no disk.

    Args:
        setting: What the setting names: a path, or a name that fastembed knows.
        profile: Where the vectors are kept; None to keep them in memory only.
        base: What a path that begins with a dot is below.
        allowed: Whether anything may be written now.
        tell: Shows a person one line.
    """

    def __init__(
        self,
        setting: str,
        profile: Profile | None = None,
        *,
        base: Path | None = None,
        allowed: Callable[[], bool] = lambda: True,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.setting = setting
        self.source = str(base / setting) if base is not None and setting.startswith(".") else setting
        self._files = None if profile is None else VectorFiles(profile)
        self._stones = None if profile is None else Tombstones(profile)
        self._allowed = allowed
        self._tell = tell
        self._worker = Worker(self._piece, self._last, self._failed)
        self._loaded = threading.Event()
        self._model: Embedder | None = None
        self._width = 0
        self._trouble: PersonaError | None = None
        self._pools: dict[Kind, Kept] = {}
        self._questions: dict[bytes, NDArray[np.float32]] = {}
        self._lock = threading.Lock()
        self._overdue: threading.Event | None = None
        self._late = 0
        self._told = False
        self._waited = False
        self._job: Callable[[], None] | None = None
        self._resting: bool | None = None

    def pool(self, kind: Kind, patience: Patience) -> Kept | None:
        """Return the vectors of one kind; None while the model is not ready, or where it does not work.

        Who asked wakes the model and waits for a moment; in passing, only a model that is ready counts.
        """
        if patience is Patience.ASKED and not self._loaded.is_set():
            self.warm()
            # One wait is enough: a model that is being fetched takes minutes.
            self._loaded.wait(0.0 if self._waited else LOADING)
            self._waited = True
        return self._pools.get(kind)

    @property
    def state(self) -> State:
        """How the model fares: ``used`` where it can be."""
        return "failed" if self._trouble else "used" if self._loaded.is_set() else "starting"

    def warm(self) -> None:
        """Have the model loaded in the background."""
        self._worker.wake()

    def meanwhile(self, job: Callable[[], None]) -> None:
        """Have something done in the background that looks for what to read; one that did not begin yet gives way."""
        self._job = job
        self._worker.wake()

    def finish(self, seconds: float) -> bool:
        """Wait until the model is loaded and everything wanted is read and kept; return whether it is."""

        def everything() -> None:
            while self._piece():
                pass

        return self._worker.ask(everything, seconds) and self._trouble is None

    def examine(self, seconds: float) -> Examined:
        """Return how the model fares; loads it, and waits so long for that."""
        self.warm()
        self._loaded.wait(seconds)
        held = tuple(len(pool) for pool in self._pools.values()) or (0, 0)
        return Examined(
            source=self.source,
            state="ready" if self.state == "used" else self.state,
            trouble=self._advice() if self._trouble else "",
            width=self._width,
            held=(held[0], held[-1]),
            waiting=sum(pool.waiting for pool in self._pools.values()),
            late=self._late,
        )

    def drop(self, saids: Collection[bytes]) -> None:
        """Forget what was made of erased texts, in memory; on disk ``VectorFiles.drop`` does, with the same hashes."""
        with self._lock:
            self._questions.clear()
        for kind, pool in self._pools.items():
            if kind == "turns":
                pool.clear()
            else:
                pool.drop(saids)

    def rest(self) -> None:
        """Read no more and keep what was read; end after a while, unless it is resumed.

        Waits a moment for what was read to be written, so that a folder that is removed then is not made again. It
        does not wait for a model that is being loaded.
        """
        # Asked now: whatever is forgotten of the session, such as that memory was off, is still known.
        self._resting = self._allowed()
        self._job = None
        self._worker.rest(LINGER)
        if self._pools:
            self._worker.ask(self._pour, SAVING)

    def resume(self) -> bool:
        """Go on in a session; return whether that was still possible."""
        self._resting = None
        return self._worker.resume()

    def close(self, seconds: float = 0.0) -> None:
        """End the thread, once what it is at is done, and wait so long for that; what was read is kept."""
        if self._resting is None:
            self._resting = self._allowed()
        self._worker.close(seconds)

    def _last(self) -> None:
        self._pour()
        self._model = None
        with self._lock:
            self._questions.clear()
        for pool in self._pools.values():
            pool.clear()

    def _question(self, text: str, patience: Patience) -> NDArray[np.float32] | None:
        key = key_of(text)
        known = self._questions.get(key)
        if known is not None:
            return known
        if self._overdue is not None and not self._overdue.is_set():
            self._late += 1
            return None  # the one before has not been answered yet, so that waiting once more would be in vain
        done = threading.Event()
        if not self._worker.ask(partial(self._answer, key, text, done), SECONDS[patience]):
            self._overdue = done
            self._late += 1
        return self._questions.get(key)

    def _answer(self, key: bytes, text: str, done: threading.Event) -> None:
        try:
            if self._model is not None:
                with self._guarded():
                    row = self._model.embed([text])[0]
                    if not bool((abs(row) < math.inf).all()):
                        return  # it is no vector, and would make every likeness none
                    with self._lock:
                        self._questions[key] = row
                        if len(self._questions) > _QUESTIONS:
                            del self._questions[next(iter(self._questions))]
        finally:
            done.set()

    def _read(self, pool: Kept, readings: Sequence[Reading], patience: Patience) -> None:
        self._worker.ask(partial(self._take, pool, readings), SECONDS[patience])

    def _piece(self) -> bool:
        if self._trouble is not None:
            return False
        if not self._loaded.is_set():
            self._load()
            return True
        if not self._permitted():
            # What is wanted still is, and is read once that is allowed again: indexes do not ask a second time.
            self._job = None
            return False
        job, self._job = self._job, None
        if job is not None:
            # What cannot be looked at now, since it is just being removed or written, is at the next quiet moment.
            with suppress(PersonaError, OSError):
                job()
            return True
        for pool in self._pools.values():
            readings = pool.next(BATCH)
            if readings:
                self._report()
                self._take(pool, readings)
                if sum(pool.fresh for pool in self._pools.values()) >= POURED:
                    self._pour()
                return True
        self._pour()
        return False

    def _take(self, pool: Kept, readings: Sequence[Reading]) -> None:
        if self._model is not None:
            with self._guarded():
                pool.take(readings, self._model.embed([one.text for one in readings]))

    def _load(self) -> None:
        # Imported late, on the thread that may take its time: it needs the extra.
        from persona_mind.recall.embed import load  # noqa: PLC0415

        with self._guarded():
            model = load(self.source)
            self._width = self._probed(model)
            self._model = model
            self._open(model.name)
        self._loaded.set()

    def _probed(self, model: Embedder) -> int:
        """Return how many numbers a vector has.

        Raises:
            CorruptError: What comes out of the model is no vector for each text.
        """
        rows = model.embed(["one", "and another"])
        if rows.ndim != 2 or len(rows) != 2 or not rows.shape[1] or not bool((abs(rows) < 2).all()):
            raise CorruptError(
                phrase("The model makes no vector for each text."), reason="no_vectors", path=self.source
            )
        return int(rows.shape[1])

    def _open(self, name: str) -> None:
        from persona_mind.meaning.keeping import Kept  # noqa: PLC0415 - it needs numpy

        pools: dict[Kind, Kept] = {}
        for kind, limit in LIMITS.items():
            pool = pools[kind] = Kept(limit, wanted=self._worker.wake, ask=self._read, question=self._question)
            with suppress(PersonaError, OSError):  # what cannot be read is made again
                records = self._files.load(name, kind) if self._files else []
                pool.load(record for record in records if len(record.vector) == 2 * self._width)
        self._pools = pools
        with suppress(PersonaError, OSError):  # as above: nothing but a notice depends on it
            if self._files is not None and self._files.others(name):
                self._notify(
                    say("`{setting}` names another model than before: everything is read anew.", setting=VECTORS)
                )

    def _permitted(self) -> bool:
        resting = self._resting
        return self._allowed() if resting is None else resting

    def _pour(self) -> None:
        """Keep on disk what was read since the last time."""
        if self._files is None or self._model is None or not self._permitted():
            return
        for kind, pool in self._pools.items():
            if pool.fresh:
                # The cache can be made again: what cannot be written now will be, when it is read the next time.
                with suppress(PersonaError):
                    self._files.add(self._model.name, kind, partial(pool.pour, self._stands))

    def _stands(self, reading: Reading) -> bool:
        """Return whether a text was not erased while it was being read."""
        return self._stones is None or not self._stones.any_stands(stones(reading.said))

    def _report(self) -> None:
        waiting = sum(pool.waiting for pool in self._pools.values())
        if waiting >= LONG and not self._told:
            self._told = True
            self._notify(
                say(
                    "Recall by meaning: {number} texts are being read in the background. Words find them meanwhile.",
                    number=thousands(waiting),
                )
            )

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Work with a model, which may fail in many ways: the thread lives on, and the failure is told."""
        try:
            yield
        except PersonaError as error:
            self.fail(error)
        except Exception as error:  # noqa: BLE001 - as above
            self.fail(_unforeseen(error, self.source))

    def _failed(self, error: BaseException) -> None:
        self.fail(error if isinstance(error, PersonaError) else _unforeseen(error, self.source))

    def _notify(self, text: str) -> None:
        with suppress(Exception):  # whatever shows it may be gone by now, which is no reason to stop reading
            self._tell(text)

    def fail(self, error: PersonaError) -> None:
        """Give up on the model: recall goes on by words, and whoever asks is told why."""
        first = self._trouble is None
        if first:
            self._trouble = error
        self._pools = {}
        self._loaded.set()
        if first:
            self._notify(say("Recall goes on by words alone. {trouble}", trouble=worded(self._advice())))

    def _advice(self) -> str:
        if self._trouble is None:
            return ""
        return phrase("`{setting}`: {what}", setting=VECTORS, what=self._trouble.message)


def _unforeseen(error: BaseException, source: str) -> PersonaError:
    if isinstance(error, ImportError):
        return NotFoundError(
            phrase("A package of the extra {extra} cannot be loaded ({name}).", extra="`embeddings`", name=error.name),
            reason="extra_broken",
        )
    return CorruptError(
        phrase("The model does not work ({error}).", error=type(error).__name__), reason="model_failed", path=source
    )

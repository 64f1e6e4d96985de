"""Lanes: the thread on which one plugin's implementations run, one after the other.

A plugin that hangs blocks its own lane and nothing else. Threads are daemons, so that a hung plugin cannot keep the
process alive, and are made at the first job, since most processes never fire most hooks. A lane works for one runtime,
whose context (the language it speaks) it copies then.
"""

from __future__ import annotations

import inspect
import threading
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable


class Job(Protocol):
    """What a lane runs. Neither method raises: what the plugin raised is part of the job's end."""

    def run(self) -> Awaitable[object] | None:
        """Call the plugin. An awaitable is returned where the plugin gave one, and is still to be awaited."""

    def end(self, value: object, error: BaseException | None) -> None:
        """Take what came of an awaitable that ``run`` returned."""


class Lane(Protocol):
    """Runs one plugin's jobs in order."""

    def submit(self, job: Job) -> None:
        """Queue ``job``; never waits."""

    def inside(self) -> bool:
        """Whether the caller runs on this lane, and would wait for itself."""

    def close(self, timeout: float) -> None:
        """Run no more jobs; wait at most ``timeout`` seconds for the one that runs."""


class ThreadLane:
    """A lane for plain implementations."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._queue: SimpleQueue[Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()

    def submit(self, job: Job) -> None:
        """Queue ``job``; never waits."""
        self._queue.put(job)
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    self._thread = threading.Thread(
                        target=copy_context().run, args=(self._serve,), name=f"persona:{self._name}", daemon=True
                    )
                    self._thread.start()

    def inside(self) -> bool:
        """Whether the caller runs on this lane, and would wait for itself."""
        return threading.current_thread() is self._thread

    def close(self, timeout: float) -> None:
        """Run no more jobs; wait at most ``timeout`` seconds for the one that runs."""
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(timeout)

    def _serve(self) -> None:
        while (job := self._queue.get()) is not None:
            run_plain(job)


class LoopLane:
    """A lane for ``async`` implementations: an event loop of the plugin's own, running between jobs as well."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._queue: asyncio.Queue[Job | None] | None = None
        self._main: asyncio.Task[None] | None = None
        self._starting = threading.Lock()

    def submit(self, job: Job) -> None:
        """Queue ``job``; never waits, but for the loop to start at the first one."""
        loop, queue = self._started()
        loop.call_soon_threadsafe(queue.put_nowait, job)

    def inside(self) -> bool:
        """Whether the caller runs on this lane, and would wait for itself."""
        return threading.current_thread() is self._thread

    def close(self, timeout: float) -> None:
        """Cancel what runs; wait at most ``timeout`` seconds for it to end."""
        if self._thread is None or self._loop is None or self._main is None:
            return
        # A loop that has ended meanwhile cannot be told, and need not be.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._main.cancel)
        self._thread.join(timeout)

    def _started(self) -> tuple[asyncio.AbstractEventLoop, asyncio.Queue[Job | None]]:
        with self._starting:
            # A background task of the plugin may have ended the loop, by sys.exit for instance.
            if self._thread is None or not self._thread.is_alive():
                self._loop = self._queue = None
                ready = threading.Event()
                self._thread = threading.Thread(
                    target=copy_context().run,
                    args=(self._run, ready),
                    name=f"persona:{self._name}:loop",
                    daemon=True,
                )
                self._thread.start()
                ready.wait()
            if self._loop is None or self._queue is None:
                raise RuntimeError(f"the event loop of {self._name} did not start")
            return self._loop, self._queue

    def _run(self, ready: threading.Event) -> None:
        import asyncio  # noqa: PLC0415 - 30 ms that a process without async plugins does not pay

        async def main() -> None:
            self._loop, self._queue, self._main = asyncio.get_running_loop(), asyncio.Queue(), asyncio.current_task()
            ready.set()
            try:
                while (job := await self._queue.get()) is not None:
                    await _await(job)
            finally:
                while not self._queue.empty():
                    if (job := self._queue.get_nowait()) is not None:
                        job.end(None, RuntimeError("the event loop ended"))

        try:
            with asyncio.Runner() as runner:
                runner.run(main())
        except asyncio.CancelledError:
            return  # closed
        finally:
            ready.set()


async def _await(job: Job) -> None:
    import asyncio  # noqa: PLC0415 - loaded already where this runs

    awaitable = job.run()
    if awaitable is None:
        return
    try:
        # A task of its own, so that a plugin that cancels itself does not cancel its lane.
        value, error = await asyncio.ensure_future(_outcome(awaitable))
    except asyncio.CancelledError as cancelled:
        job.end(None, cancelled)
        lane = asyncio.current_task()
        if lane is not None and lane.cancelling():
            raise
    else:
        job.end(value, error)


async def _outcome(awaitable: Awaitable[object]) -> tuple[object, BaseException | None]:
    try:
        return await awaitable, None
    except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - it is recorded as the plugin's
        # Raised out of a task, the last two would end the loop.
        return None, error


def run_plain(job: Job) -> None:
    """Run ``job`` where nothing can be awaited; an awaitable that it gives ends it with an error."""
    awaitable = job.run()
    if awaitable is not None:
        if inspect.iscoroutine(awaitable):
            awaitable.close()
        job.end(None, TypeError("an awaitable was returned where nothing can await it"))


def is_async(function: Callable[..., object]) -> bool:
    """Whether calling ``function`` gives a coroutine."""
    return inspect.iscoroutinefunction(function)

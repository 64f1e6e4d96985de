"""Lanes: the thread on which one plugin's implementations run, one after the other.

A plugin that hangs blocks its own lane and nothing else. Threads are daemons, so that a hung plugin cannot keep the
process alive, and are made at the first job, since most processes never fire most hooks.
"""

from __future__ import annotations

import inspect
import threading
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
                    self._thread = threading.Thread(target=self._serve, name=f"persona:{self._name}", daemon=True)
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
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._main.cancel)
            self._thread.join(timeout)

    def _started(self) -> tuple[asyncio.AbstractEventLoop, asyncio.Queue[Job | None]]:
        with self._starting:
            if self._loop is None or self._queue is None:
                ready = threading.Event()
                self._thread = threading.Thread(
                    target=self._run, args=(ready,), name=f"persona:{self._name}:loop", daemon=True
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
            while (job := await self._queue.get()) is not None:
                await self._await(job)

        try:
            with asyncio.Runner() as runner:
                runner.run(main())
        except asyncio.CancelledError:
            return  # closed
        finally:
            ready.set()

    @staticmethod
    async def _await(job: Job) -> None:
        awaitable = job.run()
        if awaitable is None:
            return
        try:
            value = await awaitable
        except BaseException as error:
            job.end(None, error)
            # An Exception is the plugin's; a cancellation or an interrupt is this lane's own end.
            if not isinstance(error, Exception):
                raise
        else:
            job.end(value, None)


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

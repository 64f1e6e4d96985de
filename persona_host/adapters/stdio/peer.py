"""JSON-RPC 2.0 in both directions over a ``Wire``.

Incoming messages take one of two lanes. The *ordered* lane is one thread: events are handled in the order in which they
happened. Each call of the *own* lane gets a thread, so that a slow tool never holds up an event. Answers to our own
requests and cancellations are taken by the reading thread itself, since whoever waits for them may fill both lanes.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import queue
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from persona_hooks.errors import BusyError, ConflictError, NotFoundError, PersonaError, RefusedError, StorageError
from persona_hooks.speech import phrase
from persona_hooks.verbs import refusal

if TYPE_CHECKING:
    from persona_host.adapters.stdio.wire import Wire

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
UNKNOWN_METHOD = -32601
FAILED = -32603
REFUSED = -32000

MAX_CALLS = 16
"""How many calls of the own lane may run at once."""

Json = dict[str, Any]
Lane = Literal["ordered", "own"]

_REASONS: Mapping[str, type[PersonaError]] = {
    "stale_session": ConflictError,
    "branch_moved": ConflictError,
    "owner_changed": ConflictError,
    "no_model": RefusedError,
    "deadline": BusyError,
    "not_found": NotFoundError,
}


@dataclass(frozen=True, slots=True)
class Incoming:
    """One incoming request or notification.

    Attributes:
        method: Its name.
        params: Its parameters.
        id: The request's id; None for a notification.
        cancelled: Set once the host no longer wants the answer.
        waits: Requests of ours that are made for it and are worth nothing without it.
    """

    method: str
    params: Json
    id: int | str | None = None
    cancelled: threading.Event = field(default_factory=threading.Event)
    waits: list[_Pending] = field(default_factory=list)

    def cancel(self) -> None:
        """Take it back, and what is waited for on its behalf."""
        self.cancelled.set()
        for pending in list(self.waits):
            pending.done.set()


@dataclass(slots=True)
class _Pending:
    done: threading.Event = field(default_factory=threading.Event)
    answer: Json = field(default_factory=dict)


_CALL: ContextVar[Incoming | None] = ContextVar("persona_stdio_call", default=None)
"""The call that the present thread works for."""

Method = Callable[[Incoming], Mapping[str, Any]]


class Peer:
    """Our end of the connection."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._methods: dict[str, tuple[Lane, Method]] = {}
        self._ids = itertools.count(1)
        self._pending: dict[int, _Pending] = {}
        self._running: dict[int | str, Incoming] = {}
        self._ordered: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._slots = threading.BoundedSemaphore(MAX_CALLS)
        self._worker = threading.Thread(target=self._work, name="events", daemon=True)
        self._closed = False

    def serve(self, method: str, lane: Lane, run: Method) -> None:
        """Answer ``method`` with ``run``; set up before ``run`` is called."""
        self._methods[method] = (lane, run)

    def run(self) -> None:
        """Handle messages until the host closes its end; pending requests of ours then fail."""
        self._worker.start()
        try:
            for line in self._wire.lines():
                if line.strip():
                    self._take(line)
        finally:
            self._closed = True
            for pending in list(self._pending.values()):
                pending.done.set()
            self._ordered.put(None)

    def drain(self, seconds: float) -> None:
        """Wait at most ``seconds`` for what the host sent before its end: what comes in turn, and running calls."""
        until = time.monotonic() + seconds
        if self._worker.is_alive():
            self._worker.join(seconds)
        for _ in range(MAX_CALLS):
            if not self._slots.acquire(timeout=max(0.0, until - time.monotonic())):
                break

    def later(self, action: Callable[[], None]) -> None:
        """Run ``action`` on the ordered lane, after what is queued there now."""
        self._ordered.put(action)

    def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification; nothing comes back."""
        self._wire.send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: Mapping[str, Any], *, seconds: float, with_call: bool = False) -> Json:
        """Send a request and return its result.

        Args:
            method: What is asked of the host.
            params: Its parameters.
            seconds: How long to wait.
            with_call: Take it back together with the call of the host's that it is made for. Not for what changes
                something, whose outcome would be unknown.

        Raises:
            BusyError: No answer came within ``seconds``, or the host took its own call back; it was told that the
                answer is no longer wanted.
            ConflictError: The host says that session or branch are no longer the ones meant, or it has gone.
            PersonaError: Any other refusal of the host's, by its reason.
        """
        number, pending = next(self._ids), _Pending()
        self._pending[number] = pending
        call = _CALL.get() if with_call else None
        if call is not None:
            call.waits.append(pending)
        try:
            if self._closed:
                raise ConflictError(phrase("The host has closed the session."), reason="stale_session")
            self._wire.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
            in_time = pending.done.wait(0.0 if call is not None and call.cancelled.is_set() else seconds)
            if not pending.answer and call is not None and call.cancelled.is_set():
                self.notify("$/cancel", {"id": number})
                raise BusyError(
                    phrase("The host took the call back that {method} was for.", method=method), reason="cancelled"
                )
            if not in_time:
                self.notify("$/cancel", {"id": number})
                raise BusyError(
                    phrase("The host did not answer {method} within {seconds:g} s.", method=method, seconds=seconds),
                    reason="deadline",
                )
        finally:
            del self._pending[number]
        return _result(method, pending.answer)

    def _take(self, line: bytes) -> None:
        message = _parse(line)
        if message is None:
            self._error(None, PARSE_ERROR, "This line is not a JSON object.")
        elif "method" not in message:
            self._settle(message)
        elif message["method"] == "$/cancel":
            self._cancel(message.get("params"))
        else:
            self._start(message)

    def _settle(self, message: Json) -> None:
        pending = self._pending.get(message["id"]) if isinstance(message.get("id"), int) else None
        if pending is not None:  # a late answer finds nobody waiting
            pending.answer = message
            pending.done.set()

    def _cancel(self, params: object) -> None:
        wanted = params.get("id") if isinstance(params, dict) else None
        call = self._running.get(wanted) if isinstance(wanted, int | str) else None
        if call is not None:
            call.cancel()

    def _start(self, message: Json) -> None:
        name, params, number = message["method"], message.get("params", {}), message.get("id")
        if not (isinstance(name, str) and isinstance(params, dict) and isinstance(number, int | str | None)):
            self._error(None, INVALID_REQUEST, "This is not a request.")
            return
        if name not in self._methods:
            self._error(number, UNKNOWN_METHOD, "There is no such method.")
            return
        lane, method = self._methods[name]
        call = Incoming(name, params, number)
        if number is not None:
            self._running[number] = call
        if lane == "ordered":
            self._ordered.put(lambda: self._answer(call, method))
        elif self._slots.acquire(blocking=False):
            threading.Thread(target=self._own, args=(call, method), name=name, daemon=True).start()
        else:
            self._finish(
                call,
                _refused(call, BusyError(phrase("{limit} calls are running already.", limit=MAX_CALLS), limit="calls")),
            )

    def _work(self) -> None:
        while (action := self._ordered.get()) is not None:
            action()

    def _own(self, call: Incoming, method: Method) -> None:
        try:
            self._answer(call, method)
        finally:
            self._slots.release()

    def _answer(self, call: Incoming, method: Method) -> None:
        _CALL.set(call)
        try:
            answer: Json = {"result": method(call)}
        except PersonaError as error:
            answer = _refused(call, error)
        except Exception as error:  # noqa: BLE001 - the host must get an answer; the type is told, the text may quote a memory
            sys.stderr.write(f"persona: {call.method} failed: {type(error).__name__}\n")
            answer = {"error": {"code": FAILED, "message": f"{call.method} failed ({type(error).__name__})."}}
        self._finish(call, answer)

    def _finish(self, call: Incoming, answer: Json) -> None:
        if call.id is None:
            return
        self._running.pop(call.id, None)
        try:
            self._wire.send({"jsonrpc": "2.0", "id": call.id, **answer})
        except PersonaError as error:
            self._wire.send({"jsonrpc": "2.0", "id": call.id, **_refused(call, error)})

    def _error(self, number: int | str | None, code: int, message: str) -> None:
        self._wire.send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})


def _parse(line: bytes) -> Json | None:
    with contextlib.suppress(ValueError, RecursionError):
        message = json.loads(line)
        if isinstance(message, dict):
            return message
    return None


def _refused(call: Incoming, error: PersonaError) -> Json:
    answer = refusal(call.method, error)
    data = {**answer.details, "changed": answer.changed}
    return {"error": {"code": REFUSED, "message": error.message, "data": data}}


def _result(method: str, answer: Json) -> Json:
    if not answer:
        raise ConflictError(phrase("The host has closed the session."), reason="stale_session")
    result = answer.get("result")
    if isinstance(result, dict):
        return result
    error = answer.get("error")
    data = error.get("data") if isinstance(error, dict) else None
    reason = data.get("reason") if isinstance(data, dict) else None
    kind = _REASONS.get(reason, StorageError) if isinstance(reason, str) else StorageError
    # The host's own sentence is not repeated: it may quote what a provider answered.
    raise kind(f"The host refused {method} ({reason or 'failed'}).", reason=reason if isinstance(reason, str) else None)

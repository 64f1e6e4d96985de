"""The capability bus: plugins meet here and nowhere else.

``query`` and ``publish`` run every handler in the caller's tick, without I/O. A registration belongs to the plugin
instance that made it and goes with it: a provider left behind by a reload would answer twice and lock memory out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from persona_hooks.errors import ConflictError, PersonaError
from persona_hooks.messages import Message

M = TypeVar("M", bound=Message)
Handler = Callable[[Message], object]
Unsubscribe = Callable[[], None]
Outside = Callable[[Message], "list[Reply] | None"]
"""Answers a query from beyond this process; None where the plugins' own providers are asked."""


class Reply(NamedTuple):
    """One provider's answer to a query, not yet parsed: whoever asked decides what it accepts.

    Attributes:
        plugin: The plugin that answered, by the name under which it registered.
        payload: What it returned; None where it raised.
        error: What it raised, if it did.
    """

    plugin: str
    payload: object
    error: Exception | None = None


class _Registration:
    """One handler of one plugin. Two of them are never the same, whatever they hold."""

    def __init__(self, client: BusClient, name: str, handler: Handler) -> None:
        self.client = client
        self.name = name
        self.handler = handler


class Bus:
    """The shared bus of one host runtime.

    ``report`` receives ``(plugin, channel, error)`` whenever a listener raises; the others still run.

    Attributes:
        outside: Set by a host that has a bus of its own: what is answered there counts in place of what is answered
            here. No plugin can set it.
    """

    def __init__(self, report: Callable[[str, str, Exception], None]) -> None:
        self.report = report
        self.outside: Outside | None = None
        # The tuples are replaced whole and under the lock, so that whoever asks takes none: a change asks eight times.
        self._providers: dict[str, tuple[_Registration, ...]] = {}
        self._listeners: dict[str, tuple[_Registration, ...]] = {}
        self._clients: dict[str, list[BusClient]] = {}
        self._lock = threading.Lock()

    def client(self, name: str) -> BusClient:
        """Return a plugin's own handle; what is registered through it is released with it."""
        client = BusClient(self, name)
        with self._lock:
            self._clients.setdefault(name, []).append(client)
        return client

    def query(self, request: Message) -> list[Reply]:
        """Return every provider's answer to ``request``, in order of registration.

        A provider that returns None has nothing to say and is left out; one that raises is reported in its reply,
        since an error is not the same as silence.
        """
        outside = self.outside
        if outside is not None and (answered := outside(request)) is not None:
            return answered
        replies: list[Reply] = []
        for registration in self._providers.get(request.channel, ()):
            try:
                payload = registration.handler(request)
            except Exception as error:  # noqa: BLE001 - reported in the reply; a provider must not stop the asker
                replies.append(Reply(registration.name, None, error))
                continue
            if payload is not None:
                replies.append(Reply(registration.name, payload))
        return replies

    def publish(self, message: Message) -> None:
        """Hand ``message`` to every listener of its channel; one that raises is reported, the others still run."""
        for registration in self._listeners.get(message.channel, ()):
            try:
                registration.handler(message)
            except Exception as error:  # noqa: BLE001 - fault isolation is this bus's task; it is reported
                self.report(registration.name, message.channel, error)

    def _add(
        self, table: dict[str, tuple[_Registration, ...]], channel: str, registration: _Registration
    ) -> Unsubscribe:
        with self._lock:
            if registration.client.released:
                raise ConflictError(f"{registration.name} was released and cannot register.", reason="stale_plugin")
            table[channel] = (*table.get(channel, ()), registration)

        def unsubscribe() -> None:
            with self._lock:
                table[channel] = tuple(item for item in table[channel] if item is not registration)

        return unsubscribe

    def release(self, name: str) -> None:
        """Take back everything that the plugin ``name`` registered, and take no more from its handles."""
        with self._lock:
            clients = self._clients.pop(name, [])
        for client in clients:
            self._release(client)

    def _release(self, client: BusClient) -> None:
        with self._lock:
            client.released = True
            for table in (self._providers, self._listeners):
                for channel, registrations in table.items():
                    table[channel] = tuple(item for item in registrations if not item.client.released)


class BusClient:
    """One plugin instance's handle on the bus.

    Attributes:
        name: The plugin's name.
        released: Whether everything was taken back; then nothing more can be registered through it.
    """

    def __init__(self, bus: Bus, name: str) -> None:
        self._bus = bus
        self.name = name
        self.released = False

    def query(self, request: Message) -> list[Reply]:
        """See ``Bus.query``."""
        return self._bus.query(request)

    def ask(self, request: Message, reply: type[M]) -> list[M]:
        """Return the well-formed answers to ``request``; malformed ones and errors are left out and reported."""
        answers: list[M] = []
        for item in self._bus.query(request):
            if item.error is not None:
                self._bus.report(item.plugin, request.channel, item.error)
                continue
            try:
                answers.append(reply.parse(item.payload))
            except PersonaError as error:
                self._bus.report(item.plugin, request.channel, error)
        return answers

    def publish(self, message: Message) -> None:
        """See ``Bus.publish``."""
        self._bus.publish(message)

    def provide(self, channel: str, handler: Handler) -> Unsubscribe:
        """Answer queries on ``channel``; return what takes the registration back."""
        return self._bus._add(self._bus._providers, channel, _Registration(self, self.name, handler))  # noqa: SLF001

    def on(self, channel: str, handler: Handler) -> Unsubscribe:
        """Listen to ``channel``; return what takes the registration back."""
        return self._bus._add(self._bus._listeners, channel, _Registration(self, self.name, handler))  # noqa: SLF001

    def release(self) -> None:
        """Take back everything that was registered through this handle, for good."""
        self._bus._release(self)  # noqa: SLF001

"""What the suite asks of a host. A host is one small class that answers for it, in the host's own terms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Iterator

    from persona_hooks.verbs import Audience
    from tests.hosts.conformance.world import World

Json = dict[str, Any]


class Called(NamedTuple):
    """What came of a tool call.

    Attributes:
        ok: Whether it was marked as done.
        text: What the model reads.
    """

    ok: bool
    text: str


class Driver(ABC):
    """One host, running in one world.

    Attributes:
        name: The host's name, as ``persona doctor --host`` knows it.
        audience: The door that its model's calls come through.
        lives_on: It goes on when our process dies; otherwise our process is the host, or its server.
        keeps_log: Its session's log is a file.
    """

    name: ClassVar[str]
    audience: ClassVar[Audience] = "model"
    lives_on: ClassVar[bool] = False
    keeps_log: ClassVar[bool] = True

    def __init__(self, world: World) -> None:
        self.world = world

    @classmethod
    def missing(cls) -> str:
        """Return in words what is not installed on this machine; empty where everything is."""
        return ""

    @abstractmethod
    def start(self, *, persona: str = "", leg: bool = False) -> Self:
        """Start it as a person does, with a persona or as a delegated leg; it is ready afterwards."""

    @abstractmethod
    def stop(self) -> int:
        """End it in order; return its exit status, or that of our process where that is what ends."""

    @abstractmethod
    def offered(self) -> dict[str, Json]:
        """Return the tools that the model is offered now, each with its schema."""

    @abstractmethod
    def call(self, tool: str, arguments: Json) -> Called:
        """Let the model call a tool."""

    @abstractmethod
    def ours(self) -> list[int]:
        """Return the ids of our processes in it."""

    def say(self, text: str) -> str:
        """Say something as the person; return everything that the model was sent with it. For hosts that hear."""
        raise NotImplementedError

    def command(self, line: str) -> str:
        """Type a command; return what is shown. For hosts that take commands."""
        raise NotImplementedError

    def back_to(self, text: str) -> None:
        """Go back to where ``text`` was said, on a branch of its own. For hosts that have branches."""
        raise NotImplementedError

    def give_up(self, arguments: Json) -> None:
        """Let the model call the probe and take the call back while it waits; the host can be used afterwards."""
        raise NotImplementedError

    def use(self, persona: str) -> None:
        """Change who speaks."""
        self.command(f"/persona use {persona}")


@contextmanager
def running(host: Driver, *, persona: str = "", leg: bool = False) -> Iterator[Driver]:
    """Start a host, and stop it afterwards."""
    try:
        yield host.start(persona=persona, leg=leg)
    finally:
        host.stop()

"""What is done once a turn is over and nobody waits."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from persona_hooks.errors import PersonaError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from persona_hooks.ports import Session
    from persona_hooks.turn import Turn
    from persona_mind.services import Services

_BRIEF: Final = 1.0
"""Seconds from the beginning of a quiet moment after which nothing more is waited for."""


class Settling:
    """The quiet moments of one plugin instance.

    Args:
        services: What it works with.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def settled(self, session: Session, turn: Turn) -> None:
        """Show what is due, then write and clear what can wait; without an owner, or with memory off, do nothing.

        Each step is on its own: one that fails costs no other, and the next quiet moment will do.
        """
        services = self._services
        services.blocked.settled(session)
        if session.leg or not services.access.enabled(session):
            return
        services.reminders.turn(session)
        try:
            steps = list(self._steps(session, turn))
        except PersonaError:
            return  # nobody's memory is touched without an owner
        for step in steps:
            with suppress(PersonaError):  # what was recorded of a turn may be lost, and readers leave out what expired
                step()
        services.count(session)

    def _steps(self, session: Session, turn: Turn) -> Iterator[Callable[[], object]]:
        services, access = self._services, self._services.access
        owner = access.owner(session)
        scope, permit = access.scope(session, owner), access.permit(session, owner, _brief(turn))
        yield lambda: services.recorder.settle(session)
        # What is being moved here may be what has expired, and it is decided there.
        if not services.moving.pending:
            yield lambda: services.facts.sweep(scope, permit)
            yield lambda: services.backlog.sweep(scope.project, permit)
        yield services.quiet.settled
        yield lambda: services.read_ahead(session, scope)


def _brief(turn: Turn) -> Turn:
    """Return a turn that waits for no other process for long: the next person may wait for this one."""
    deadline = turn.clock() + _BRIEF
    return turn._replace(deadline=deadline if turn.deadline is None else min(turn.deadline, deadline))

"""Selection: which persona speaks in a session.

The order is: the session's own flag, ``PI_PERSONA_DEFAULT``, the choice remembered in the settings, none. No persona is
an answer too, with a memory of its own. A persona that was asked for and cannot be had is not replaced by another one:
memory stays closed, with a sentence that says why, until the person chooses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from persona_companion.names import NONE, canonical
from persona_hooks.errors import PersonaError, RefusedError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from persona_companion.briefs import Brief
    from persona_companion.discovery import Catalogue
    from persona_hooks.ports import Session

PIN: Final = "PI_PERSONA_DEFAULT"

Source = Literal["leg", "flag", "pin", "remembered", "none", "chosen"]

WORDS: Final[dict[Source, str]] = {
    "leg": phrase("from whoever launched this worker"),
    "flag": phrase("asked for in this session"),
    "pin": phrase("set by {variable}", variable=PIN),
    "remembered": phrase("your last choice"),
    "none": phrase("no persona was chosen"),
    "chosen": phrase("chosen in this session"),
}


class Wish(NamedTuple):
    """Which persona is asked for, and by whom; None is no persona."""

    persona: str | None
    source: Source


class Selection(NamedTuple):
    """The persona of one seat.

    Attributes:
        source: Who asked for it.
        brief: The persona; None where none is selected, or where ``blocked`` says why memory is closed.
        blocked: Why nobody owns the memory; None where ``brief`` does.
    """

    source: Source
    brief: Brief | None = None
    blocked: PersonaError | None = None

    @property
    def ready(self) -> bool:
        """Whether there is an owner."""
        return self.blocked is None

    @property
    def persona(self) -> str | None:
        """The owner's name; None for no persona."""
        return None if self.brief is None else self.brief.name


def wish(session: Session, environ: Mapping[str, str], remembered: Callable[[], str | None]) -> Wish:
    """Return which persona is asked for.

    Args:
        session: The session that begins.
        environ: The environment, read once.
        remembered: Reads the remembered choice; called only where nothing else decides.

    Raises:
        PersonaError: It cannot be known: a leg's launcher is not understood or silent, or the settings are damaged.
    """
    if session.leg:
        from persona_companion.legs import leg_payload  # noqa: PLC0415 - only a leg has one

        payload = leg_payload(environ)
        if payload is not None:
            return Wish(payload.persona, "leg")
    asked: list[tuple[str | None, Source]] = [(session.persona, "flag"), (environ.get(PIN), "pin")]
    for name, source in asked:
        if name and name.strip():
            return Wish(None if name.strip().casefold() == NONE else name, source)
    last = remembered()
    if session.leg and last is not None:
        # The remembered choice is the latest of any session: it may not be the one that launched this worker.
        raise RefusedError(
            phrase("This worker was not told whose it is (PI_PERSONA_LEG_PERSONA is not set), so it has no memory."),
            reason="unknown_launcher",
        )
    return Wish(last, "none" if last is None else "remembered")


def select(asked: Wish, catalogue: Catalogue | None) -> Selection:
    """Return the selection for ``asked``; without a persona to look for, no catalogue is needed."""
    if asked.persona is None or catalogue is None:
        return Selection(asked.source)
    try:
        return Selection(asked.source, catalogue.find(canonical(asked.persona)))
    except PersonaError as error:
        return Selection(asked.source, blocked=_closed(error, asked.source))


def _closed(error: PersonaError, source: Source) -> RefusedError:
    return RefusedError(
        phrase(
            "Memory is closed: the persona {source} cannot be used. {why} Choose with /persona use NAME, "
            "or /persona none.",
            source=WORDS[source],
            why=error.message,
        ),
        reason=error.reason,
    )

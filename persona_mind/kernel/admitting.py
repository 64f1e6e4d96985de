"""The door of every text that a verb stores, and what becomes of a text that a person has to look at first.

A verb asks ``admitted`` for each text. Where one has to wait for a person, the verb refuses, and what wraps it (a
plugin registers what ``reviewed`` makes of its verbs) hands the whole call to a holder: once the person consents, the
same call is made again, and the same text passes.
"""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from persona_hooks.errors import RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from persona_hooks.errors import PersonaError
    from persona_hooks.ports import Session
    from persona_hooks.verbs import AnyVerb, Call, Origin, Outcome, Params
    from persona_store.admission import Admitted, Quarantined

QUARANTINED: Final = "quarantined"
"""The reason of a refusal that a person can lift."""


class Holder(Protocol):
    """Keeps what waits for a person."""

    def consented(self, call: Call, held: Quarantined) -> bool:
        """Return whether a person approved this text, with the rule it breaks, for this owner and origin."""

    def hold(self, call: Call, verb: str, params: Params, held: Sequence[tuple[str, Quarantined]]) -> PersonaError:
        """Keep a call that waits for a person, and return the refusal that says where it waits.

        Args:
            call: On whose behalf, and by whom.
            verb: The verb's name.
            params: All that it was called with.
            held: The texts that have to be looked at, each with the argument that it stands in.
        """


@dataclass(slots=True)
class _Run:
    """A reviewed verb while it runs."""

    holder: Holder
    call: Call
    held: list[tuple[str, Quarantined]] = field(default_factory=list)


_run: ContextVar[_Run | None] = ContextVar("persona_mind_reviewed_run", default=None)


def may_wait(origin: Origin) -> bool:
    """Return whether words of this origin may have to wait for a person."""
    from persona_store.admission import FOREIGN  # noqa: PLC0415 - as in ``admitted``

    return origin in FOREIGN


def admitted(text: str, origin: Origin, field: str) -> Admitted:
    """Return ``text`` as something that may be stored; its ``approval`` belongs on the row.

    Raises:
        RefusedError: It breaks a rule; the error names the field, the rule and the place, never the text.
    """
    # The scanner takes a while to load, and most commands store nothing.
    from persona_store.admission import Admitted, Quarantined, admit, approve  # noqa: PLC0415

    verdict = admit(text, origin)
    run = _run.get()
    if isinstance(verdict, Quarantined) and run is not None:
        if run.holder.consented(run.call, verdict):
            verdict = approve(text, origin)
        else:
            run.held.append((field, verdict))
    if isinstance(verdict, Admitted):
        return verdict
    raise verdict.error(field)


def reviewed(
    verb: AnyVerb, holder: Holder, *, offered: Callable[[Session], bool], changed: Callable[[Session], None]
) -> AnyVerb:
    """Return a verb as it is to be registered: what it refuses for want of a person's consent waits for one.

    Args:
        verb: The verb.
        holder: Holds what waits.
        offered: Whether models are offered it in a session.
        changed: Told of a session in which it has changed something.
    """

    def run(call: Call, params: Params) -> Outcome:
        outcome = _held(verb, holder, call, params)
        if outcome.changed != "no":
            changed(call.session)
        return outcome

    return replace(verb, run=run, offered=offered)


def _held(verb: AnyVerb, holder: Holder, call: Call, params: Params) -> Outcome:
    watched = _Run(holder, call)
    token = _run.set(watched)
    try:
        outcome: Outcome = verb.run(call, params)
    except RefusedError as error:
        if error.reason != QUARANTINED or not watched.held:
            raise
    else:
        return outcome
    finally:
        _run.reset(token)
    raise holder.hold(call, verb.name, params, watched.held)

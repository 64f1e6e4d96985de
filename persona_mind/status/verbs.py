"""The ``mind`` verbs: snapshot, off, on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.errors import RefusedError
from persona_hooks.speech import phrase
from persona_hooks.verbs import PEOPLE, NoParams, Verb
from persona_mind.status import words
from persona_mind.status.outcomes import Overview, Switched
from persona_mind.status.params import Off, On, ShowSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.ports import Session
    from persona_hooks.turn import Turn
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.backlog.service import Backlog
    from persona_mind.facts.model import Tier
    from persona_mind.facts.search import Views
    from persona_mind.facts.service import Facts
    from persona_mind.kernel.access import Access
    from persona_mind.quarantine.service import Quarantine


class MindVerbs(NamedTuple):
    """The verbs about the mind itself.

    Attributes:
        access: The gate.
        facts: The service.
        views: Recall.
        backlog: The backlog.
        quarantine: What waits for a person.
        preview: Returns what the model would be given now.
        notice: Returns what a person is told before anything was ever stored, else None.
    """

    access: Access
    facts: Facts
    views: Views
    backlog: Backlog
    quarantine: Quarantine
    preview: Callable[[Session, Turn], str]
    notice: Callable[[], str | None]

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        return (
            Verb("mind.snapshot", ShowSnapshot, "read", self.snapshot, words.overview, PEOPLE, "mind"),
            Verb("mind.off", Off, "write", self.off, words.switched, PEOPLE, "mind off"),
            Verb("mind.on", On, "write", self.on, words.switched, PEOPLE, "mind on"),
        )

    def snapshot(self, call: Call, _: NoParams) -> Overview:
        """Count what the owner sees, and show what the model is given."""
        scope, _permit = self.access.enter(call)
        now = self.facts.now()
        home = scope.project.home
        long = self.views.view(scope, ("persona", "shared"), now)
        tiers: tuple[Tier, Tier] = ("project", "stm")
        project, working = (0 if home else len(self.views.view(scope, (tier,), now).facts) for tier in tiers)
        return Overview(
            persona=scope.persona,
            long=len(long.facts),
            project=project,
            working=working,
            backlog=0 if home else len(self.backlog.own(scope)),
            waiting=len(self.quarantine.waiting(scope)),
            home=home,
            block=self.preview(call.session, call.turn),
            notice=self.notice(),
        )

    def off(self, call: Call, _: NoParams) -> Switched:
        """Turn memory off for the session."""
        return self._switch(call, on=False)

    def on(self, call: Call, _: NoParams) -> Switched:
        """Turn memory on for the session."""
        return self._switch(call, on=True)

    def _switch(self, call: Call, *, on: bool) -> Switched:
        if call.owner.leg or call.session.leg:
            raise RefusedError(phrase("A delegated worker switches no memory; whoever launched it does."), reason="leg")
        changed, durable = self.access.switch(call.session, on=on)
        return Switched(changed="yes" if changed else "no", enabled=on, durable=durable, shared=call.session.shared)

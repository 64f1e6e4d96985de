"""The ``quarantine`` verbs. No model is offered them, and none may use them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from persona_hooks.errors import PersonaError, RefusedError, UncertainError
from persona_hooks.speech import phrase
from persona_hooks.verbs import PEOPLE, NoParams, Verb
from persona_mind.kernel import labels
from persona_mind.kernel.arriving import arriving
from persona_mind.quarantine import words
from persona_mind.quarantine.outcomes import Approved, Dropped, HeldItem, Shown, Waiting
from persona_mind.quarantine.params import ApproveHeld, DropHeld, ListHeld, ShowHeld

if TYPE_CHECKING:
    from persona_hooks.ports import Verbs
    from persona_hooks.verbs import AnyVerb, Call
    from persona_mind.kernel.access import Access
    from persona_mind.kernel.scope import Scope
    from persona_mind.quarantine.model import HeldCall
    from persona_mind.quarantine.service import Quarantine


@dataclass(frozen=True, slots=True)
class QuarantineVerbs:
    """The verbs over one profile's quarantine.

    Attributes:
        access: The gate.
        quarantine: The service.
        host: Performs a held call once more.
    """

    access: Access
    quarantine: Quarantine
    host: Verbs

    def verbs(self) -> tuple[AnyVerb, ...]:
        """Return them all."""
        command = "mind quarantine"
        return (
            Verb("quarantine.list", ListHeld, "read", self.waiting, words.waiting, PEOPLE, command),
            Verb("quarantine.show", ShowHeld, "read", self.show, words.shown, PEOPLE, f"{command} show"),
            Verb(
                "quarantine.approve", ApproveHeld, "write", self.approve, words.approved, PEOPLE, f"{command} approve"
            ),
            Verb("quarantine.drop", DropHeld, "erase", self.drop, words.dropped, PEOPLE, f"{command} drop"),
        )

    def waiting(self, call: Call, _: NoParams) -> Waiting:
        """List what waits for the owner in this project."""
        scope, _permit = self.access.enter(call)
        items = tuple(_item(held) for held in self.quarantine.waiting(scope))
        return Waiting(count=len(items), items=items)

    def show(self, call: Call, params: ShowHeld) -> Shown:
        """Show one held call."""
        scope, _ = self.access.enter(call)
        _require_person(call)
        held = self.quarantine.read(scope, params.id)
        found = tuple(
            phrase("{field} breaks {rule} at character {offset}", field=wait.field, rule=wait.rule, offset=wait.offset)
            for wait in held.waits
        )
        return Shown(item=_item(held), found=found, arguments=held.arguments)

    def approve(self, call: Call, params: ApproveHeld) -> Approved:
        """Write the consent down, and make the held call again as whoever made it.

        Raises:
            NotFoundError, BusyError: As ``Quarantine.claim``.
            PersonaError: What the held call was refused with; it waits on.
            UncertainError: It was done, but its text could not be taken out of quarantine.
        """
        scope, permit = self.access.enter(call)
        _require_person(call)
        held = self.quarantine.claim(scope, params.id, permit)
        outcome = Approved(id=held.id, verb=held.verb, origin=held.origin, rules=held.rules)
        if held.arguments is None:
            return outcome
        done, changed = False, False
        try:
            with arriving(labels.host(held.host)):
                answer = self.host.call(
                    held.verb, held.arguments, session=call.session, origin=held.origin, audience=held.audience
                )
            done, changed = answer.ok, answer.changed != "no"
        finally:
            self._settle(scope, held, done=done, changed=changed)
        if answer.error is not None:
            raise answer.error
        return outcome.model_copy(update={"changed": "yes", "did": answer.anew().title})

    def drop(self, call: Call, params: DropHeld) -> Dropped:
        """Erase what is held."""
        scope, permit = self.access.enter(call)
        _require_person(call)
        gone = self.quarantine.drop(scope, params.id, permit)
        if gone is None:
            return Dropped(id="", changed="no")
        return Dropped(id=params.id, changed="yes", done=not gone.waiting)

    def _settle(self, scope: Scope, held: HeldCall, *, done: bool, changed: bool) -> None:
        try:
            self.quarantine.settle(scope, held.id, done=done)
        except PersonaError as error:
            if not done:
                if changed:
                    # What was asked for may have happened, although nobody confirmed it.
                    error.changed = "unknown"
                raise
            raise UncertainError(
                phrase(
                    "It was approved and done, but its text could not be taken out of quarantine. Approve it again."
                ),
                changed="yes",
                reason="not_settled",
                cause=error.reason,
            ) from error


def _require_person(call: Call) -> None:
    if call.origin != "user":
        raise RefusedError(phrase("Only a person decides what leaves quarantine."), reason="not_a_person")


def _item(held: HeldCall) -> HeldItem:
    return HeldItem(
        id=held.id,
        verb=held.verb,
        origin=held.origin,
        rules=held.rules,
        held_at=held.held_at,
        approved_at=held.approved_at,
    )

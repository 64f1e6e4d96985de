"""From a verb that may not store a text to a held call, and from a person's consent back to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from persona_hooks.errors import PersonaError, RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel import clock, labels
from persona_mind.kernel.admitting import QUARANTINED
from persona_mind.kernel.arriving import via
from persona_mind.kernel.wording import by
from persona_mind.quarantine.model import HeldCall, Wait, handle, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from persona_hooks.verbs import Call, Origin, Params
    from persona_mind.kernel.access import Access
    from persona_mind.quarantine.service import Quarantine
    from persona_store.admission import Quarantined


class Holding(NamedTuple):
    """The quarantine as the kernel's doors know it, and the host that serves; see ``kernel.admitting.Holder``."""

    access: Access
    quarantine: Quarantine
    host: str = ""

    def consented(self, call: Call, held: Quarantined) -> bool:
        """Return whether a person approved this text, with the rule it breaks, for this owner and origin."""
        scope = self.access.scope(call.session, call.owner)
        return self.quarantine.consented(scope, held.origin, held.digest, held.rule)

    def hold(self, call: Call, verb: str, params: Params, held: Sequence[tuple[str, Quarantined]]) -> PersonaError:
        """Keep a call, and return the refusal that names where it waits; a refusal of its own where it cannot."""
        arguments = params.model_dump(mode="json", by_alias=True, exclude_unset=True)
        try:
            waits = _waits(arguments, call.origin, held)
            scope, permit = self.access.enter(call)
            new = HeldCall(
                id=handle(scope.segment, scope.project.slug, verb, call.origin, arguments),
                persona=scope.segment,
                project=scope.project.slug,
                verb=verb,
                origin=call.origin,
                audience=call.audience,
                held_at=clock.format(self.quarantine.now()),
                waits=waits,
                host=labels.host(via(self.host)) or None,
                arguments=arguments,
            )
            fresh = self.quarantine.hold(scope, new, permit)
        except PersonaError as error:
            return error
        return _refusal(new, fresh=fresh)


def _waits(
    arguments: dict[str, JsonValue], origin: Origin, held: Sequence[tuple[str, Quarantined]]
) -> tuple[Wait, ...]:
    """Return all that a person has to look at in a call.

    Raises:
        RefusedError: An argument that the verb did not come to may not be kept by anybody.
    """
    # The scanner has been loaded by whoever asks; other commands do without it.
    from persona_store.admission import Quarantined, Refused, admit  # noqa: PLC0415

    found = list(held)
    for field, text in strings(arguments):
        verdict = admit(text, origin)
        if isinstance(verdict, Refused):
            raise verdict.error(field)
        if isinstance(verdict, Quarantined):
            found.append((field, verdict))
    waits = {
        (one.digest, one.rule): Wait(
            field=field, digest=one.digest, rule=one.rule, offset=one.offset, rules_version=one.rules_version
        )
        for field, one in found
    }
    return tuple(waits.values())


def _refusal(held: HeldCall, *, fresh: bool) -> RefusedError:
    first = held.waits[0]
    return RefusedError(
        phrase(
            "{field}: {rule} at character {offset}, brought {by}: a person must approve it. It waits as {id}; "
            "`/mind quarantine` shows it.",
            field=first.field,
            rule=first.rule,
            offset=first.offset,
            by=by(held.origin),
            id=held.id,
        ),
        reason=QUARANTINED,
        changed="yes" if fresh else "no",
        id=held.id,
        field=first.field,
        rule=first.rule,
        offset=first.offset,
        origin=held.origin,
    )

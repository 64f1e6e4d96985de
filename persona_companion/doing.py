"""What each of the companion's verbs does. Imported when the first of them is asked for, since start-up needs none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_companion.faults import Fault, readable
from persona_companion.outcomes import Checked, Chosen, Listed, ListedPersona, Problem, Shown
from persona_companion.selection import WORDS
from persona_hooks.errors import NotFoundError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_companion.companion import Companion
    from persona_hooks.verbs import Call


def list_personas(companion: Companion, call: Call) -> Listed:
    """Return who speaks, and who could."""
    selection = companion.ownership.at(call.session).selection
    catalogue = companion.catalogue(call.session)
    personas = tuple(
        ListedPersona(
            name=brief.name,
            description=brief.description,
            origin=brief.origin,
            active=selection.ready and brief.name == selection.persona,
        )
        for brief in catalogue.briefs
    )
    return Listed(
        state="ready" if selection.ready else "blocked",
        active=selection.persona,
        why=WORDS[selection.source] if selection.blocked is None else selection.blocked.message,
        personas=personas,
        problems=_problems(catalogue.faults),
        folder=readable(catalogue.folder),
        untrusted=catalogue.untrusted is not None,
    )


def use_persona(companion: Companion, call: Call, name: str) -> Chosen:
    """Choose ``name``; see ``Companion.choose``."""
    switched = companion.choose(call.session, name, call.turn)
    return Chosen(
        changed=switched.changed,
        active=switched.seat.selection.persona,
        remembered=switched.remembered,
        pinned=switched.pinned,
    )


def show_persona(companion: Companion, call: Call, name: str | None) -> Shown:
    """Return one persona whole; without a name the one that speaks."""
    wanted = name or companion.ownership.at(call.session).selection.persona
    if wanted is None:
        raise NotFoundError(phrase("No persona speaks here; name one: /persona show NAME."), reason="no_persona")
    brief = companion.catalogue(call.session).find(wanted)
    return Shown(
        name=brief.name,
        description=brief.description,
        origin=brief.origin,
        path=readable(brief.path),
        line=brief.line,
        role=brief.role,
        model=brief.model,
        notebook=brief.notebook is not None,
        objective=brief.objective,
        prompt=brief.prompt,
        problems=_problems(brief.warnings),
    )


def check_personas(companion: Companion, call: Call) -> Checked:
    """Return what is wrong with the settings and with every brief."""
    catalogue = companion.catalogue(call.session)
    faults = (*companion.settings_faults(), *catalogue.faults, *catalogue.bystanders)
    return Checked(personas=len(catalogue.briefs), problems=_problems(faults))


def _problems(faults: Iterable[Fault]) -> tuple[Problem, ...]:
    return tuple(
        Problem(path=readable(fault.path), line=fault.line, text=fault.text, fatal=fault.fatal) for fault in faults
    )

"""The companion's verbs: for people and scripts, since a model does not choose who it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from persona_companion import words
from persona_companion.faults import Fault, readable
from persona_companion.names import NONE
from persona_companion.outcomes import (
    Checked,
    CheckPersonas,
    Chosen,
    Listed,
    ListedPersona,
    ListPersonas,
    Problem,
    Shown,
    ShowPersona,
    UseNoPersona,
    UsePersona,
)
from persona_companion.selection import WORDS
from persona_hooks.errors import NotFoundError
from persona_hooks.verbs import PEOPLE, AnyVerb, Call, Verb

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_companion.companion import Companion


def verbs(companion: Companion) -> tuple[AnyVerb, ...]:
    """Return the verbs of ``companion``. They work while memory is closed, since they are how a person opens it."""
    does = _Does(companion)
    return (
        Verb("persona.list", ListPersonas, "read", does.list, words.listed, PEOPLE, "persona", before_ready=True),
        Verb("persona.use", UsePersona, "write", does.use, words.chosen, PEOPLE, "persona use", before_ready=True),
        Verb("persona.none", UseNoPersona, "write", does.none, words.chosen, PEOPLE, "persona none", before_ready=True),
        Verb("persona.show", ShowPersona, "read", does.show, words.shown, PEOPLE, "persona show", before_ready=True),
        Verb(
            "persona.doctor",
            CheckPersonas,
            "read",
            does.check,
            words.checked,
            PEOPLE,
            "persona doctor",
            before_ready=True,
        ),
    )


class _Does:
    """What each verb does."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion

    def list(self, call: Call, _: ListPersonas) -> Listed:
        selection = self._companion.ownership.at(call.session).selection
        catalogue = self._companion.catalogue(call.session)
        return Listed(
            state="ready" if selection.ready else "blocked",
            active=selection.persona,
            why=WORDS[selection.source] if selection.blocked is None else selection.blocked.message,
            personas=tuple(
                ListedPersona(
                    name=brief.name,
                    description=brief.description,
                    origin=brief.origin,
                    active=selection.ready and brief.name == selection.persona,
                )
                for brief in catalogue.briefs
            ),
            problems=_problems(catalogue.faults),
            folder=readable(catalogue.folder),
            untrusted=catalogue.untrusted is not None,
        )

    def use(self, call: Call, params: UsePersona) -> Chosen:
        switched = self._companion.choose(call.session, params.name, call.turn)
        return Chosen(
            changed=switched.changed,
            active=switched.seat.selection.persona,
            remembered=switched.remembered,
            pinned=switched.pinned,
        )

    def none(self, call: Call, _: UseNoPersona) -> Chosen:
        return self.use(call, UsePersona(name=NONE))

    def show(self, call: Call, params: ShowPersona) -> Shown:
        name = params.name or self._companion.ownership.at(call.session).selection.persona
        if name is None:
            raise NotFoundError("No persona speaks here; name one: /persona show NAME.", reason="no_persona")
        brief = self._companion.catalogue(call.session).find(name)
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

    def check(self, call: Call, _: CheckPersonas) -> Checked:
        catalogue = self._companion.catalogue(call.session)
        faults = (*self._companion.settings_faults(), *catalogue.faults)
        return Checked(personas=len(catalogue.briefs), problems=_problems(faults))


def _problems(faults: Iterable[Fault]) -> tuple[Problem, ...]:
    return tuple(
        Problem(path=readable(fault.path), line=fault.line, text=fault.text, fatal=fault.fatal) for fault in faults
    )

"""The companion's verbs: for people and scripts, since a model does not choose who it is.

They work while memory is closed, because they are how a person opens it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from persona_companion import words
from persona_companion.names import NONE
from persona_hooks.verbs import PEOPLE, AnyVerb, Call, Params, Place, Verb

if TYPE_CHECKING:
    from persona_companion.companion import Companion
    from persona_companion.outcomes import Checked, Chosen, Listed, Shown


class ListPersonas(Params):
    """Show who speaks here and which personas there are."""


class UsePersona(Params):
    """Let another persona speak here; its memory is used from now on."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=200, description="The persona's name, as /persona lists it."),
        Place.REST,
    ]


class UseNoPersona(Params):
    """Let no persona speak here; memory without a persona is used from now on."""


class ShowPersona(Params):
    """Show one persona whole: where it is defined, what it asks for, its prompt."""

    name: Annotated[
        str | None,
        Field(min_length=1, max_length=200, description="The persona's name; the one that speaks here if left out."),
        Place.REST,
    ] = None


class CheckPersonas(Params):
    """Check every brief and the settings, and name what to correct."""


def verbs(companion: Companion) -> tuple[AnyVerb, ...]:
    """Return the verbs of ``companion``."""
    runs = _Runs(companion)
    return (
        Verb("persona.list", ListPersonas, "read", runs.list, words.listed, PEOPLE, "persona", before_ready=True),
        Verb("persona.use", UsePersona, "write", runs.use, words.chosen, PEOPLE, "persona use", before_ready=True),
        Verb("persona.none", UseNoPersona, "write", runs.none, words.chosen, PEOPLE, "persona none", before_ready=True),
        Verb("persona.show", ShowPersona, "read", runs.show, words.shown, PEOPLE, "persona show", before_ready=True),
        Verb(
            "persona.doctor",
            CheckPersonas,
            "read",
            runs.check,
            words.checked,
            PEOPLE,
            "persona doctor",
            before_ready=True,
        ),
    )


class _Runs:
    """From the registry to ``doing``, which start-up does not import."""

    def __init__(self, companion: Companion) -> None:
        self._companion = companion

    def list(self, call: Call, _: ListPersonas) -> Listed:
        from persona_companion.doing import list_personas  # noqa: PLC0415 - see the class

        return list_personas(self._companion, call)

    def use(self, call: Call, params: UsePersona) -> Chosen:
        from persona_companion.doing import use_persona  # noqa: PLC0415 - see the class

        return use_persona(self._companion, call, params.name)

    def none(self, call: Call, _: UseNoPersona) -> Chosen:
        from persona_companion.doing import use_persona  # noqa: PLC0415 - see the class

        return use_persona(self._companion, call, NONE)

    def show(self, call: Call, params: ShowPersona) -> Shown:
        from persona_companion.doing import show_persona  # noqa: PLC0415 - see the class

        return show_persona(self._companion, call, params.name)

    def check(self, call: Call, _: CheckPersonas) -> Checked:
        from persona_companion.doing import check_personas  # noqa: PLC0415 - see the class

        return check_personas(self._companion, call)

"""Legs: a delegated worker's persona is that of whoever launched it, and stays so.

A worker in a process of its own receives it in ``PI_PERSONA_LEG_PERSONA``, as JSON:
``{"version": 1, "persona": "kiri"}``, with null for none. The variable exists for that one process: it is read only in
a leg, and whoever starts another process makes its environment with ``leg_environment`` or ``scrubbed``, so that it is
never inherited by chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from persona_companion.names import MAX_NAME
from persona_hooks.errors import InvalidError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Mapping

LEG: Final = "PI_PERSONA_LEG"
LEG_PERSONA: Final = "PI_PERSONA_LEG_PERSONA"
_CHILD: Final = "PI_PERSONA_CHILD"
_PIN: Final = "PI_PERSONA_DEFAULT"
_MAX_PAYLOAD: Final = 4096


class LegPayload(BaseModel):
    """What a worker's process is told about its persona."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", defer_build=True)

    version: Literal[1] = 1
    persona: Annotated[str, Field(min_length=1, max_length=MAX_NAME)] | None


def leg_payload(environ: Mapping[str, str]) -> LegPayload | None:
    """Return what the launcher said, or None where it said nothing.

    Raises:
        InvalidError: It said something that this release does not understand.
    """
    text = environ.get(LEG_PERSONA, "")
    if not text:
        return None
    try:
        return LegPayload.model_validate_json(text[:_MAX_PAYLOAD])
    except ValidationError:
        raise InvalidError(
            phrase("{variable} is not understood, so this worker has no memory.", variable=LEG_PERSONA),
            reason="bad_leg_persona",
            field=LEG_PERSONA,
        ) from None


def leg_environment(environ: Mapping[str, str], persona: str | None) -> dict[str, str]:
    """Return the environment for a worker of ``persona`` that is launched as a process of its own."""
    payload = LegPayload(persona=persona).model_dump_json()
    return {**scrubbed(environ), LEG: "1", LEG_PERSONA: payload}


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a process that is launched from here: without what was meant for this one."""
    own = {LEG, LEG_PERSONA, _CHILD, _PIN}
    return {name: value for name, value in environ.items() if name not in own}

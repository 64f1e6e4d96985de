"""The messages of the seven channels: frozen, versioned by the channel's name, closed where they are payloads.

A request or a reply that comes from outside is parsed with ``Message.parse``: what does not fit is an ``InvalidError``
that names channel and field, never the value. Unknown fields are forbidden in closed messages and dropped elsewhere, so
that a newer minor release may add to a reply.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from persona_hooks.errors import InvalidError
from persona_hooks.naming import to_camel
from persona_hooks.speech import Phrase

COMPANION = "pi-persona:companion:v1"
MEMORY_OWNER = "pi-persona:memory-owner:v1"
MEMORY_OWNER_CHANGED = "pi-persona:memory-owner-changed:v1"
SETTINGS_COLLECT = "pi-persona:settings:collect:v1"
ACTIVITY = "pi-persona:activity:v1"
WORKER = "pi-persona:worker:v1"
BRAKE = "pi-persona:brake:v1"

Id = Annotated[str, Field(min_length=1, max_length=128)]
Name = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f-\x9f]+$")]


def _kept(value: object, check: ValidatorFunctionWrapHandler) -> str:
    checked: str = check(value)
    return value if isinstance(value, Phrase) else checked


Reason = Annotated[str, Field(max_length=1_024), WrapValidator(_kept)]
"""Sentences for a person; a phrase stays one, so that it is worded for whoever reads it."""
MAIN_SEAT = "main"
CONTRACT = 1
"""The contract's version. A number with bounds, since a literal 1 would take true as well."""


class Message(BaseModel):
    """The base of every message: frozen, strict, camelCase on the wire."""

    model_config = ConfigDict(
        frozen=True,
        strict=True,
        extra="ignore",
        alias_generator=to_camel,
        populate_by_name=True,
        allow_inf_nan=False,
        defer_build=True,
        cache_strings="keys",
    )

    channel: ClassVar[str]

    @classmethod
    def parse(cls, payload: object) -> Self:
        """Return ``payload`` as this message.

        Args:
            payload: An instance of this class, or a mapping of wire names to values.

        Raises:
            InvalidError: It is neither, or a field is missing, unknown or malformed.
        """
        if isinstance(payload, cls):
            return payload
        if not isinstance(payload, Mapping):
            raise InvalidError(f"{cls.channel}: a message must be an object.", field="message")
        try:
            # Through JSON, so that what one plugin may say to another is what could also cross a wire.
            text = json.dumps(dict(payload), allow_nan=False)
        except Exception:  # noqa: BLE001 - a hostile mapping may raise anything, which must not stop whoever asked
            raise InvalidError(f"{cls.channel}: a message must be made of JSON values.", field="message") from None
        try:
            return cls.model_validate_json(text, strict=True)
        except ValidationError as error:
            raise _invalid(cls, error) from None

    def wire(self) -> dict[str, Any]:
        """Return the message as JSON values under its wire names."""
        return self.model_dump(mode="json", by_alias=True)


def _invalid(kind: type[Message], error: ValidationError) -> InvalidError:
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    # An unknown field's name is the sender's text, so only its place among ours is told.
    known = first["type"] != "extra_forbidden"
    field = (".".join(map(str, first["loc"])) or "message") if known else "unknown field"
    return InvalidError(f"{kind.channel}: {field}: {first['msg']}.", field=field)


class Closed(Message):
    """A message in which an unknown field is an error: it may travel further than its receiver."""

    model_config = ConfigDict(extra="forbid")


class CompanionQuery(Closed):
    """Asks who is the companion here. Exactly one valid reply gives the mind a reason to work."""

    channel = COMPANION
    session_id: Id


class CompanionReply(Message):
    """Says that a companion is loaded, and which contract it speaks.

    Attributes:
        contract: The contract's version, which must be ``CONTRACT``.
    """

    channel = COMPANION
    provider: Name
    contract: Annotated[int, Field(ge=CONTRACT, le=CONTRACT)]
    release: Annotated[str, Field(max_length=64)]
    session_id: Id


class OwnerQuery(Closed):
    """Asks whose memory a seat of a session is."""

    channel = MEMORY_OWNER
    session_id: Id
    seat: Name = MAIN_SEAT


class OwnerReply(Message):
    """Says whose memory it is. A null persona is an owner too; an owner that is not ready is none.

    Attributes:
        persona: The active persona's name, or None where no persona is selected.
        ready: False until the provider's activation has finished.
        leg: True in a delegated worker session, whose persona is frozen at its creation.
        reason: Why the owner is not ready and what a person can do, in one or two sentences; empty where it is.
    """

    channel = MEMORY_OWNER
    provider: Name
    session_id: Id
    seat: Name
    ready: bool
    persona: Name | None
    leg: bool = False
    reason: Reason = ""


class OwnerChanged(Closed):
    """Tells that the owner of a seat changed, became ready or was revoked."""

    channel = MEMORY_OWNER_CHANGED
    provider: Name
    session_id: Id
    seat: Name
    ready: bool
    persona: Name | None


class Setting(Closed):
    """One effective setting and where it came from."""

    channel = SETTINGS_COLLECT
    key: Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)*$", max_length=128)]
    value: str | int | float | bool | None
    source: Annotated[str, Field(max_length=512)]


class SettingsQuery(Closed):
    """Asks every plugin for its effective settings in a session."""

    channel = SETTINGS_COLLECT
    session_id: Id


class SettingsReply(Message):
    """One plugin's effective settings."""

    channel = SETTINGS_COLLECT
    provider: Name
    settings: Annotated[tuple[Setting, ...], Field(max_length=256)]


class BrakeQuery(Closed):
    """Asks whether a brake holds in a conversation."""

    channel = BRAKE
    session_id: Id
    seat: Name = MAIN_SEAT


class BrakeReply(Message):
    """Says whether a brake holds; ``unknown`` while extraction is late or failed; see ``persona_hooks.brakes``."""

    channel = BRAKE
    provider: Name
    session_id: Id
    seat: Name
    state: Literal["clear", "set", "unknown"]


MESSAGES: tuple[type[Message], ...] = (
    CompanionQuery,
    CompanionReply,
    OwnerQuery,
    OwnerReply,
    OwnerChanged,
    SettingsQuery,
    SettingsReply,
    BrakeQuery,
    BrakeReply,
)

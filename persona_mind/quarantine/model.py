"""A held call: a pure value, as it stands in a file, with what a person has to look at in it."""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from persona_mind.kernel import clock
from persona_mind.kernel.approvals import Digest, Rule
from persona_mind.kernel.rowfields import MAX_ID, ROW, Moment, RowHost, RowId, RowOrigin, RowPersona

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from persona_mind.kernel.scope import Scope

MAX_WAITS: Final = 128
_PERFORMING: Final = 60.0
"""Seconds after which an approval that is not done is taken for one that was interrupted."""


class Wait(BaseModel):
    """One text of a call that a person has to look at, without the text.

    Attributes:
        field: The argument that it stands in.
        digest: SHA-256 of the text.
        rule: The rule that it breaks.
        offset: Where, in characters.
        rules_version: The version of the rules that found it.
    """

    model_config = ROW

    field: Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]*$", max_length=MAX_ID)]
    digest: Digest
    rule: Rule
    offset: Annotated[int, Field(ge=0)]
    rules_version: int


class HeldCall(BaseModel):
    """A call that waits for a person, or one that a person approved.

    Attributes:
        id: Its handle, the same for the same call.
        persona: The segment of the persona whose memory it was meant for.
        project: The project that it was made in.
        verb: What is to be done.
        origin: Who brought it.
        audience: The door that it came through.
        held_at: When.
        waits: What a person has to look at.
        host: The host that it came through.
        arguments: What the verb was called with: plain JSON, so that erasing finds a text in it; None once it was done.
        approved_at: When a person approved it.
        performing_at: When it was begun to be done; None while nobody does it.
    """

    model_config = ROW

    id: RowId
    persona: RowPersona
    project: Annotated[str, Field(min_length=1, max_length=MAX_ID)]
    verb: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*$", max_length=MAX_ID)]
    origin: RowOrigin
    audience: Literal["model", "person", "script", "page", "mcp"]
    held_at: Moment
    waits: Annotated[tuple[Wait, ...], Field(min_length=1, max_length=MAX_WAITS)]
    host: RowHost | None = None
    arguments: dict[str, JsonValue] | None = None
    approved_at: Moment | None = None
    performing_at: Moment | None = None

    @property
    def waiting(self) -> bool:
        """Whether its text is still held."""
        return self.arguments is not None

    @cached_property
    def size(self) -> int:
        """How many bytes its arguments take."""
        return len(_canonical(self.arguments or {}))

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that it breaks, each once."""
        return tuple(dict.fromkeys(wait.rule for wait in self.waits))

    def holds(self, new: HeldCall) -> bool:
        """Return whether it waits for everything that the same call, made again, would wait for."""
        return self.waiting and {(wait.digest, wait.rule) for wait in new.waits} <= {
            (wait.digest, wait.rule) for wait in self.waits
        }

    def excuses(self, digest: str, rule: str) -> bool:
        """Return whether it is a person's consent to this text breaking this rule."""
        return self.approved_at is not None and any((wait.digest, wait.rule) == (digest, rule) for wait in self.waits)

    def busy(self, now: datetime) -> bool:
        """Return whether somebody is doing it just now."""
        if self.performing_at is None:
            return False
        return abs((now - clock.parse(self.performing_at)).total_seconds()) < _PERFORMING


def belongs(held: HeldCall, scope: Scope) -> bool:
    """Return whether a call was held for this persona in this project."""
    return (held.persona, held.project) == (scope.segment, scope.project.slug)


def handle(persona: str, project: str, verb: str, origin: str, arguments: Mapping[str, Any]) -> str:
    """Return the id of a held call: thirteen characters, the same for the same call."""
    data = _canonical([persona, project, verb, origin, arguments])
    return f"q{hashlib.sha256(data).hexdigest()[:12]}"


def strings(value: JsonValue, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text in some arguments, with the name of the argument that it stands in."""
    if isinstance(value, str):
        yield field, value
    elif isinstance(value, list):
        for item in value:
            yield from strings(item, field)
    elif isinstance(value, dict):
        for name, item in value.items():
            if field:
                yield field, name
            yield from strings(item, field or name)


def _canonical(value: object) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")

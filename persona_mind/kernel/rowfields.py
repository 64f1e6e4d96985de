"""The fields that rows of several faculties share, with the limits that the original's files have."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from persona_hooks.naming import to_camel
from persona_mind.kernel import clock
from persona_mind.kernel.identity import ID_PATTERN
from persona_mind.kernel.labels import harmless

ROW: Final = ConfigDict(
    frozen=True,
    strict=True,
    extra="ignore",
    alias_generator=to_camel,
    populate_by_name=True,
    defer_build=True,
    # What a person erased is not to stay in a cache of the parser's.
    cache_strings="keys",
)
"""The configuration of what stands in files: strict, frozen, camelCase, open to later releases' fields."""

RowOrigin = Literal["user", "model", "import", "peer", "worker", "tool"]

UNKNOWN_ORIGIN: Final[RowOrigin] = "import"
"""The origin of rows that name none: another program wrote them, so they are judged as what it brought."""

MAX_TEXT: Final = 8_192
MAX_TAGS: Final = 64
MAX_TAG: Final = 256
MAX_ID: Final = 128
LIFE_HOURS: Final = 48.0
"""How long what is for now lives where nobody says otherwise."""


def units(text: str) -> int:
    """Return the length of ``text`` in UTF-16 code units, which the limits of the files count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _fits(text: str) -> str:
    if units(text) > MAX_TEXT:
        raise ValueError(f"at most {MAX_TEXT} UTF-16 units")
    return text


def _moment(text: str) -> str:
    clock.parse(text)
    return text


def _name(value: object) -> str:
    return value if isinstance(value, str) else ""


Moment = Annotated[str, Field(max_length=64), AfterValidator(_moment)]
RowId = Annotated[str, Field(pattern=ID_PATTERN), AfterValidator(harmless)]
RowText = Annotated[str, Field(min_length=1), AfterValidator(_fits)]
RowTags = Annotated[tuple[Annotated[str, Field(max_length=MAX_TAG)], ...], Field(max_length=MAX_TAGS)]
RowPersona = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
"""The segment of a persona, or what a file says in its place: ``showing.judged_all`` withholds rows of what is none."""
RowHost = Annotated[str, BeforeValidator(_name)]
"""The name of a host, or whatever a file says in its place, which hides no fact: ``labels.host`` judges it."""
RowSession = Annotated[str, Field(min_length=1, max_length=MAX_ID)]
"""A host's own id; ``labels.session`` says how it may be shown."""

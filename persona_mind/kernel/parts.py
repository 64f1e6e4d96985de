"""The part that a faculty puts into an archive, and takes back out of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_hooks.ports import Session
    from persona_mind.kernel.intake import Intake
    from persona_mind.kernel.scope import Scope

START: Final = "1970-01-01T00:00:00.000Z"


@dataclass(frozen=True, slots=True)
class Extent:
    """What an archive is to hold.

    Attributes:
        session: The conversation that it is made in.
        scope: Whose, and where.
        everything: All personas and all projects, instead of what this owner sees in this project.
    """

    session: Session
    scope: Scope
    everything: bool


@dataclass(frozen=True, slots=True)
class Leaf:
    """One file of an archive.

    Attributes:
        name: Its path in the archive; the first word is the part's name.
        rows: The exact bytes of each row.
        updated_at: When it was last changed, RFC 3339.
        sequence: The version of the document that it was taken from.
    """

    name: str
    rows: tuple[bytes, ...]
    updated_at: str = START
    sequence: int = 0


class Part(Protocol):
    """What one faculty has to do with archives.

    Attributes:
        name: The faculty's word in an archive.
        version: Of the form of its rows; raised only when an older release could not read them.
    """

    name: str
    version: int

    def leaves(self, extent: Extent) -> Iterable[Leaf]:
        """Return what there is to put in, in a fixed order; nothing for what is not there. Reads only."""
        ...

    def take(self, leaf: Leaf, intake: Intake) -> None:
        """Take in one file of an archive; each row by itself, so that a bad one costs only itself.

        Raises:
            InvalidError: The part puts no file of that name into archives.
        """
        ...

"""What the ``sessions`` verbs return. Details hold ids and counts; what was said stands in the card only."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from persona_hooks.verbs import Outcome
from persona_mind.kernel.past import Cited  # noqa: TC001 - outcomes hold quotes, and pydantic reads this


@dataclass(frozen=True, slots=True)
class Quote:
    """A turn as it may be shown.

    Attributes:
        cited: Where it was said.
        text: What is shown of it, as one line; empty where no part could be shown without changing its meaning.
        whole: That is all of it.
        withheld: The rule that withholds it; empty where it is shown.
        directive: It reads like an instruction, and a model wrote it.
    """

    cited: Cited
    text: str
    whole: bool
    withheld: str = ""
    directive: bool = False


class TurnOpened(Outcome):
    """One turn, whole, among its neighbours."""

    session: str
    turn: str
    at: str | None
    role: str
    withheld: str | None = None
    text: str = Field(exclude=True)
    around: tuple[Quote, ...] = Field(exclude=True)

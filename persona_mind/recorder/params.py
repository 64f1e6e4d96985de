"""What ``mind.why`` is called with."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from persona_hooks.verbs import Params, Place
from persona_mind.kernel.rowfields import MAX_ID


class AskWhy(Params):
    """Say which memories stood in the last request and why, what became of one, or which never help."""

    id: Annotated[
        str | None,
        Place.WORD,
        Field(min_length=1, max_length=MAX_ID, description="A memory's id, to be told what became of it."),
    ] = None
    unused: Annotated[bool, Field(description="Tell which memories never helped.")] = False

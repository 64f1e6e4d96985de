"""The parameters of the ``sessions`` verbs: the only place where they are described and checked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from persona_hooks.verbs import Params, Place


class ReadTurn(Params):
    """Read one turn of a past conversation whole, with what was said before and after."""

    session: Annotated[str, Place.WORD, Field(min_length=1, max_length=128, description="The session's id, as cited.")]
    turn: Annotated[str, Place.WORD, Field(min_length=1, max_length=128, description="The turn's id, as cited.")]

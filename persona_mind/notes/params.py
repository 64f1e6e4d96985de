"""The parameters of the ``notes`` verbs: the only place where they are described and checked."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from persona_hooks.verbs import Params, Place
from persona_mind.kernel.kinds import Kind
from persona_mind.kernel.rowfields import MAX_ID
from persona_mind.notes.model import MAX_SOURCE, MAX_TEXT

MAX_QUERY: Final = 512

NoteId = Annotated[str, Place.WORD, Field(min_length=1, max_length=MAX_ID, description="The note's id.")]


class SaveNote(Params):
    """Note something for this conversation only; nothing of it reaches another session."""

    text: Annotated[
        str, Place.REST, Field(min_length=1, max_length=MAX_TEXT, description="What to note, self-contained.")
    ]
    kind: Annotated[
        Kind,
        Field(
            description="As for facts. An objective noted here drives this session and stays in it; one that is to "
            "last is remembered instead."
        ),
    ] = "note"
    source: Annotated[str | None, Field(max_length=MAX_SOURCE, description="Where it comes from.")] = None


class ListNotes(Params):
    """List this conversation's notes; with words, those that match them."""

    query: Annotated[str, Place.REST, Field(max_length=MAX_QUERY, description="Words to look for.")] = ""


class ReadNote(Params):
    """Read one note whole."""

    id: NoteId


class ForgetNote(Params):
    """Forget one note on this branch of the conversation."""

    id: NoteId

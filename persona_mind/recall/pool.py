"""Where vectors come from, as recall sees it: somebody keeps a model, what it has read, and a thread to read on."""

from __future__ import annotations

import enum
import hashlib
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from persona_mind.kernel.compared import State
    from persona_mind.recall.model import Doc

Kind = Literal["facts", "turns"]
"""What vectors are of."""


class Patience(enum.Enum):
    """How long an answer may wait for likeness of meaning."""

    PASSING = "passing"
    """Something else is being prepared: only for a model that is ready, and for a moment."""
    ASKED = "asked"
    """Somebody asked for just this."""


class Reading(NamedTuple):
    """A text to be read by the model.

    Attributes:
        key: Tells what the model reads from everything else, without its words.
        text: What it reads: the tags (a speaker's name tells much), then the text.
        said: The text alone.
        at: When it was said, in seconds since the epoch; None where nobody knows.
    """

    key: bytes
    text: str
    said: str
    at: float | None = None


class Pool(Protocol):
    """The vectors of one kind of thing. Safe to use from several threads.

    Attributes:
        most: How many of one index take part: less than it holds, or it would be filled ever anew.
    """

    most: int

    def get(self, key: bytes) -> NDArray[np.float32] | None:
        """Return the vector of a text by its key, if it has been read."""
        ...

    def want(self, reading: Reading) -> None:
        """Have a text read when there is time."""
        ...

    def cancel(self, key: bytes) -> None:
        """Do not have a text read that was wanted."""
        ...

    def news(self, since: int) -> tuple[int, Sequence[bytes]]:
        """Return where one is up to date then, and the keys whose vectors became known since an earlier such moment."""
        ...

    def read(self, readings: Sequence[Reading], patience: Patience) -> None:
        """Have a few texts read before others; return when that is done or took too long."""
        ...

    def question(self, text: str, patience: Patience) -> NDArray[np.float32] | None:
        """Return the vector of a question; None where that would take too long."""
        ...


class Source(Protocol):
    """A model that a person set."""

    @property
    def state(self) -> State:
        """How it fares; ``used`` where it can be."""
        ...

    def pool(self, kind: Kind, patience: Patience) -> Pool | None:
        """Return the vectors of one kind; None while the model is not ready, or where it does not work."""
        ...


if TYPE_CHECKING:
    Sources = Callable[[], Source | None]
    """Returns the model that is set now, or None."""


def no_source() -> None:
    """Return that no model is set: words alone count."""


def reading(doc: Doc) -> Reading:
    """Return what a model reads of a document."""
    text = f"{', '.join(doc.tags)}: {doc.text}" if doc.tags else doc.text
    return Reading(key_of(text), text, doc.text, doc.at)


def key_of(text: str) -> bytes:
    """Return the key of what a model reads."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]

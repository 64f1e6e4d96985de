"""Companions that are extensions of the host: what they answered when the host last asked them.

The host asks them in the tick in which it sends us something, and again in the tick in which it appends for us. While
one of them speaks, its answers count in place of our own companion's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from persona_hooks.bus import Reply
from persona_hooks.messages import COMPANION, MAIN_SEAT, MEMORY_OWNER

if TYPE_CHECKING:
    from persona_hooks.messages import Message
    from persona_host.adapters.stdio.peer import Json

_KEYS: Final = {COMPANION: "companions", MEMORY_OWNER: "owners"}
_UNKNOWN: Final[Json] = {"companions": [None], "owners": []}
"""Stands for a sample in a form unknown here: somebody speaks, and cannot be relied on."""


class Foreign:
    """The latest sample, as a source of answers for the bus."""

    def __init__(self) -> None:
        self.sample: Json | None = None

    def take(self, value: object) -> bool:
        """Take a new sample, None where no foreign companion speaks; return whether it says something else."""
        before = self.sample
        self.sample = None if value is None else _sample(value)
        return self.sample != before

    def answer(self, request: Message) -> list[Reply] | None:
        """Return what was answered to ``request``; None where our own providers are to be asked."""
        key, sample = _KEYS.get(request.channel), self.sample
        if key is None or sample is None:
            return None
        return [_reply(payload) for payload in sample[key]]


def _sample(value: object) -> Json:
    if isinstance(value, dict) and all(isinstance(value.get(key), list) for key in _KEYS.values()):
        return value
    return _UNKNOWN


def _reply(payload: Any) -> Reply:  # noqa: ANN401 - JSON of another program's
    """Return an answer as the bus has it; who it is from is known by its provider's name alone."""
    if not isinstance(payload, dict):
        return Reply("an extension of the host", payload)
    return Reply(f"extension {str(payload.get('provider'))[:64]}", {"seat": MAIN_SEAT, **payload})

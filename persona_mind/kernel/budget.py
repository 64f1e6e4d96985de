"""How much text a model is given: one estimate, and caps that nothing passes.

A token is estimated as three bytes of UTF-8. That counts Latin text somewhat high and Chinese about right; it is
a bound for planning, not a bill.
"""

from __future__ import annotations

from typing import Final, NamedTuple

BYTES_PER_TOKEN: Final = 3
TOTAL_TOKENS: Final = 2_400
"""Everything the mind adds to one request: fences, headings and notices included."""


def size(text: str) -> int:
    """Return how many bytes ``text`` takes."""
    return len(text.encode("utf-8", "surrogatepass"))


def tokens(text: str) -> int:
    """Return the estimate for ``text``, rounded up."""
    return -(-size(text) // BYTES_PER_TOKEN)


class Caps(NamedTuple):
    """How many entries of each kind one request may hold, whatever room is left.

    Attributes:
        long: Private and shared facts together, objectives included.
        project: Facts of the repository.
        working: Facts that expire.
        backlog: Deferred items.
    """

    long: int = 8
    project: int = 4
    working: int = 5
    backlog: int = 6


class Allowance:
    """Bytes that may still be spent. What does not fit whole is not taken at all."""

    def __init__(self, limit_tokens: int) -> None:
        self._left = max(limit_tokens, 0) * BYTES_PER_TOKEN
        self._whole: Allowance | None = None

    @property
    def left(self) -> int:
        """How many bytes may still be taken."""
        return self._left

    def take(self, text: str) -> bool:
        """Spend what ``text`` takes, its line break included; False, and nothing spent, where it does not fit."""
        needed = size(text) + 1
        if needed > self._left or (self._whole is not None and not self._whole.take(text)):
            return False
        self._left -= needed
        return True

    def reserve(self, tokens: int) -> None:
        """Set tokens aside for what is added at the end."""
        self._left = max(self._left - tokens * BYTES_PER_TOKEN, 0)

    def within(self, tokens: int) -> Allowance:
        """Return an allowance inside this one of at most so many tokens."""
        inner = Allowance(tokens)
        inner._left = min(inner._left, self._left)
        inner._whole = self
        return inner

    def part(self, reserved_tokens: int) -> Allowance:
        """Return an allowance inside this one that leaves ``reserved_tokens`` for others."""
        inner = Allowance(0)
        inner._left = max(self._left - reserved_tokens * BYTES_PER_TOKEN, 0)
        inner._whole = self
        return inner

"""Room for what may be shown: what may not takes nobody's place."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


def readable(search: Callable[[int], Sequence[T]], room: int, withheld: Callable[[T], bool]) -> tuple[list[T], int]:
    """Return the best items that may be shown; only where these leave room, others too, for which a placeholder stands.

    Args:
        search: Returns at most so many items, best first, fewer where there are no more.
        room: How many at most.
        withheld: Tells of one whether it may not be shown.

    Returns:
        The items, best first, and how many that may not be shown are among them or would be.
    """
    spare = 0
    while True:
        found = search(room + spare)
        unsafe = {at for at, item in enumerate(found) if withheld(item)}
        if len(unsafe) <= spare or len(found) < room + spare:
            break
        spare = 4 * len(unsafe)
    safe = [at for at in range(len(found)) if at not in unsafe][:room]
    last = safe[-1] if len(safe) == room else len(found)
    passed = sorted(at for at in unsafe if at < last)
    return [found[at] for at in sorted(safe + passed[: room - len(safe)])], len(passed)

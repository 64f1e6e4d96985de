"""From an id to the one item it names, among those that somebody may change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, NotFoundError, RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel.labels import told

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.backlog.model import Item
    from persona_store.document import Row

MAX_CANDIDATES: Final = 5


def resolve(live: Iterable[Row[Item]], handle: str, persona: str) -> tuple[Row[Item], Item]:
    """Return the row that ``handle`` names, with its item.

    An own item counts before one of nobody, an id in full before one that the same words would have, and what is still
    to be done before what is closed.

    Args:
        live: The rows that have not expired.
        handle: A stored id, a current one or one of the older form.
        persona: The segment of whoever asks.

    Raises:
        NotFoundError: It names nothing.
        RefusedError: It names another persona's item, or several items.
    """
    named = [(row, row.value) for row in live if row.value is not None and handle in row.value.handles]
    if not named:
        raise NotFoundError(
            phrase("There is no such item in this project's backlog; `/mind backlog` lists those there are."),
            field="id",
        )
    own = [pair for pair in named if pair[1].persona == persona] or [pair for pair in named if not pair[1].persona]
    if not own:
        raise RefusedError(
            phrase("This item belongs to another persona; only that persona may change it."),
            reason="not_owner",
            owner=told(named[0][1].persona) or None,
        )
    exact = [pair for pair in own if pair[1].id == handle] or own
    best = [pair for pair in exact if pair[1].active] or exact
    if len({item.key for _, item in best}) > 1:
        raise _ambiguous([item for _, item in best])
    return max(best, key=lambda pair: pair[1].created)


def _ambiguous(items: list[Item]) -> RefusedError:
    candidates: list[dict[str, str | bool]] = [{"id": item.id, "state": item.state} for item in items[:MAX_CANDIDATES]]
    listed = ", ".join(f"{item['id']} ({item['state']})" for item in candidates)
    return RefusedError(
        phrase(
            "This id names {number} items; {unchanged}. Use one of: {listed}.",
            number=len(items),
            listed=listed,
            unchanged=UNCHANGED,
        ),
        reason="ambiguous_id",
        field="id",
        candidates=candidates,
        total=len(items),
    )

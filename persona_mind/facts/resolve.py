"""From an id to the fact it names, over everything that its owner can see.

Ids are short and older releases made them another way, so that one id may name two facts. Then nothing is chosen: the
refusal lists the candidates, each with an id that names only it where there is one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.errors import UNCHANGED, NotFoundError, RefusedError
from persona_hooks.speech import phrase
from persona_mind.kernel.identity import Key, content_id

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_mind.facts.files import Held

MAX_CANDIDATES: Final = 5


def resolve(visible: Iterable[Held], handle: str, field: str = "id") -> list[Held]:
    """Return the rows of the one fact that ``handle`` names; it may stand in several tiers.

    Args:
        visible: Every live row that the owner can see.
        handle: A stored id, a current id or one of the older form.
        field: The argument that it came in, for the refusal.

    Raises:
        NotFoundError: It names nothing here.
        RefusedError: It names several facts; ``details["candidates"]`` lists id, kind and whether the id resolves.
    """
    everything = list(visible)
    facts: dict[Key, list[Held]] = {}
    for held in everything:
        if handle in held.fact.handles:
            facts.setdefault(held.fact.key, []).append(held)
    if not facts:
        raise NotFoundError(phrase("No such fact is visible here; recall lists those that are."), field=field)
    if len(facts) > 1:
        raise _ambiguous(everything, [group[0] for group in facts.values()], field)
    return next(iter(facts.values()))


def _ambiguous(everything: list[Held], matches: list[Held], field: str) -> RefusedError:
    named: dict[str, set[Key]] = {}
    for held in everything:
        for handle in held.fact.handles:
            named.setdefault(handle, set()).add(held.fact.key)
    candidates: list[dict[str, str | bool]] = []
    for held in matches[:MAX_CANDIDATES]:
        fact = held.fact
        unique = [id_ for id_ in (content_id(fact.key), fact.id, *sorted(fact.handles)) if len(named[id_]) == 1]
        candidates.append({"id": unique[0] if unique else fact.id, "kind": fact.kind, "resolves": bool(unique)})
    listed = ", ".join(f"{item['id']} ({item['kind']}{'' if item['resolves'] else ', shared'})" for item in candidates)
    if rest := len(matches) - len(candidates):
        listed = phrase("{listed} and {number} more", listed=listed, number=rest)
    return RefusedError(
        phrase(
            "This id names {number} facts; {unchanged}. Use one of: {listed}. A shared id resolves once the "
            "others are forgotten.",
            number=len(matches),
            listed=listed,
            unchanged=UNCHANGED,
        ),
        reason="ambiguous_id",
        field=field,
        candidates=candidates,
        total=len(matches),
    )

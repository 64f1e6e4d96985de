"""Operations on plain documents, for trying the engine without any faculty."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

from persona_hooks.errors import PersonaError, UncertainError
from persona_store.jsonfile import JsonFile
from persona_store.transaction import Profile
from tests.support.crash.battery import Operation

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_store.document import Document, Row, Snapshot

NOW = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)


class Item(BaseModel):
    """The smallest entry."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    id: str
    text: str


def profile(root: Path) -> Profile:
    return Profile(root / "persona-mind", lambda: NOW)


def store(root: Path, name: str = "memory/ltm/elite.json") -> tuple[Profile, Document[Item]]:
    mine = profile(root)
    return mine, mine.document(name, Item)


def adding(document: Document[Item], identity: str) -> Callable[[Snapshot[Item]], list[Row[Item]]]:
    row = document.row(Item(id=identity, text=f"text of {identity}"))
    return lambda snapshot: [*snapshot.rows, row]


def add(root: Path, identity: str, name: str = "memory/ltm/elite.json", timeout: float = 10.0) -> int:
    mine, document = store(root, name)
    with mine.transaction(timeout=timeout) as transaction:
        return transaction.update(document, adding(document, identity)).snapshot.sequence


def ids(root: Path, name: str = "memory/ltm/elite.json") -> list[str]:
    return [item.id for item in store(root, name)[1].read().values]


def _nothing(_root: Path) -> None:
    """Begin without anything, as on a first run."""


def _add_two(root: Path) -> None:
    add(root, "one")
    add(root, "two")


def _has(snapshot: Snapshot[Item], identity: str) -> bool:
    return any(item.id == identity for item in snapshot.values)


def _once(identity: str) -> Callable[[Path], object]:
    def run(root: Path) -> object:
        mine, document = store(root)
        with mine.transaction() as transaction:
            return transaction.update(
                document,
                lambda snapshot: (
                    None
                    if any(item.id == identity for item in snapshot.values)
                    else adding(document, identity)(snapshot)
                ),
            ).changed

    return run


def _drop(root: Path) -> object:
    mine, document = store(root)
    with mine.transaction() as transaction:
        return transaction.update(
            document, lambda snapshot: [row for row in snapshot.rows if row.value is None or row.value.id != "one"]
        ).changed


def _move(root: Path) -> object:
    """Promotion: the row is written where it goes before it is taken from where it was."""
    mine, source = store(root)
    target = mine.document("memory/ltm/_shared.json", Item)
    with mine.transaction() as transaction:
        moving = [row for row in source.read().rows if row.value and row.value.id == "one"]
        transaction.update(
            target, lambda snapshot: [*snapshot.rows, *(row for row in moving if row not in snapshot.rows)]
        )
        try:
            transaction.update(source, lambda snapshot: [row for row in snapshot.rows if row not in moving])
        except PersonaError as error:
            raise UncertainError("copied, but perhaps not removed") from error
    return None


def _both(root: Path) -> tuple[list[str], list[str]]:
    return ids(root), ids(root, "memory/ltm/_shared.json")


def _moved(before: object, after: object, state: object) -> bool:
    """Written where it goes, and not yet taken away: a duplicate, never a loss."""
    assert isinstance(before, tuple)
    assert isinstance(after, tuple)
    return state in (before, after) or state == (before[0], after[1])


def _backlog(root: Path) -> object:
    mine, document = store(root, "backlog/app.json")
    return mine.update(document, lambda s: None if s.rows else adding(document, "todo")(s)).changed


def _settings(root: Path) -> JsonFile:
    return JsonFile(root / "persona-companion" / "settings.json", root / "persona-mind")


def _write_settings(value: int) -> Callable[[Path], None]:
    def run(root: Path) -> None:
        _settings(root).update(lambda values: {**values, "persona": value})

    return run


def _damage(root: Path) -> None:
    _add_two(root)
    path = root / "persona-mind/memory/ltm/elite.json"
    path.write_bytes(path.read_bytes()[:-20])


def _repair_look(root: Path) -> tuple[list[str], bool, int]:
    snapshot = store(root)[1].read()
    return [item.id for item in snapshot.values], snapshot.damage is None, _kept(root)


def _kept(root: Path) -> int:
    contents = {
        path.read_bytes() for path in (root / "persona-mind/memory/ltm").glob("elite.json*") if ".bak" not in path.name
    }
    return sum(1 for data in contents if not data.endswith(b"}\n"))


STEPS: tuple[tuple[Callable[[Path], object], list[str]], ...] = (
    (_once("one"), ["one"]),
    (_once("two"), ["one", "two"]),
    (_once("three"), ["one", "two", "three"]),
    (_drop, ["two", "three"]),
    (_once("four"), ["two", "three", "four"]),
)


def after_power_loss(root: Path, acknowledged: int) -> str | None:
    """Say what is wrong with a profile in which so many of `STEPS` were acknowledged."""
    legal = [[], *(state for _, state in STEPS)][acknowledged : acknowledged + 2]
    try:
        state = ids(root)
        if state not in legal:
            return f"holds {state}"
        add(root, "again")
        if ids(root) != [*state, "again"]:
            return f"holds {ids(root)} after the next change"
    except PersonaError as error:
        return f"{type(error).__name__}: {error}"
    return None


def _at_home(step: Callable[[Path], object]) -> Callable[[Path], object]:
    return lambda home: step(home / ".pi" / "agent")


FIRST_STEPS = tuple(_at_home(step) for step, _ in STEPS)
"""`STEPS` for a home in which not even the directories above the profile are there."""


def after_first_power_loss(home: Path, acknowledged: int) -> str | None:
    """As `after_power_loss`, for `FIRST_STEPS`."""
    return after_power_loss(home / ".pi" / "agent", acknowledged)


def broken_off_then(identity: str) -> Callable[[Path], object]:
    """A first change that may be broken off, and another one that is acknowledged."""

    def run(home: Path) -> object:
        with contextlib.suppress(KeyboardInterrupt):
            _at_home(_once("broken off"))(home)
        return _at_home(_once(identity))(home)

    return run


OPERATIONS = (
    Operation("first add", _nothing, _once("one"), ids),
    Operation("add", _add_two, _once("three"), ids),
    Operation("drop", _add_two, _drop, ids),
    Operation("move", _add_two, _move, _both, legal=_moved),
    Operation("backlog", _nothing, _backlog, lambda root: ids(root, "backlog/app.json")),
    Operation("settings", _write_settings(1), _write_settings(2), lambda root: _settings(root).read().values),
    Operation("repair", _damage, _once("three"), _repair_look),
)

__all__ = [
    "FIRST_STEPS",
    "OPERATIONS",
    "STEPS",
    "Item",
    "add",
    "adding",
    "after_first_power_loss",
    "after_power_loss",
    "broken_off_then",
    "ids",
    "profile",
    "store",
]

"""Operations on whole profiles: erasing, backing up, restoring, merging."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from persona_hooks.errors import PersonaError
from persona_store import backup, backup_contents, cloud, restoration
from persona_store.erase import Target, erase
from tests.support.crash.battery import Operation
from tests.support.crash.documents import adding, ids, profile, store

if TYPE_CHECKING:
    from pathlib import Path

    from persona_store.jsontext import JsonValue

GONE = "gone-for-good-in-every-place"
TARGET = Target((GONE,), (f'["note","{GONE}"]',))
_COPY = "elite.sync-conflict-20260302-093000-ABCDEFG.json"


def key_of(fields: dict[str, JsonValue]) -> str | None:
    return json.dumps(["note", fields["id"]], separators=(",", ":")) if "id" in fields else None


def _put(root: Path, *identities: str) -> None:
    mine, document = store(root)
    with mine.transaction() as transaction:
        for identity in identities:
            transaction.update(document, adding(document, identity))


def _fill(root: Path) -> None:
    _put(root, "one", GONE, "two")
    backup.daily(profile(root))
    torn = root / "persona-mind/memory/ltm/elite.json"
    torn.write_bytes(torn.read_bytes()[:-5])
    _put(root, "three")


def _holding(root: Path) -> int:
    return sum(GONE.encode() in path.read_bytes() for path in root.rglob("*") if path.is_file())


def _kept(root: Path) -> tuple[list[str], int]:
    return [identity for identity in ids(root) if identity != GONE], _holding(root)


def _same_rest(before: object, after: object, state: object) -> bool:
    """Nothing but the erased text may have gone, at any moment."""
    return cast("tuple[object, int]", state)[0] == cast("tuple[object, int]", after)[0] and before is not None


def _erase(root: Path) -> None:
    erase(profile(root), TARGET)


def _erase_again(root: Path) -> None:
    _erase(root)
    assert not _holding(root), "erasing again left something"


def _backup(root: Path) -> None:
    backup.daily(profile(root))


def _backups(root: Path) -> list[str]:
    names = backup.dailies(root / "persona-mind")
    for name in names:
        backup_contents.verify(root / "persona-mind/backups" / name)
    return names


def _to_restore(root: Path) -> None:
    _put(root, "one", "two")
    backup.backup(profile(root), root / "saved")
    _put(root, "three")


def _restore(root: Path) -> None:
    done = restoration.restore(profile(root), root / "saved", lambda fields: filter(None, [key_of(fields)]))
    if done.left:
        # What was left as it was is named: nobody is told that it came back.
        raise PersonaError("part of it was left", changed="unknown")


def _with_copy(root: Path) -> None:
    _put(root, "one", "two")
    live = root / "persona-mind/memory/ltm/elite.json"
    copy = live.with_name(_COPY)
    copy.touch(mode=0o600)
    copy.write_bytes(live.read_bytes().replace(b'"two"', b'"theirs"'))


def _merge(root: Path) -> None:
    mine = profile(root)
    for copy in cloud.conflict_copies(mine.root):
        if cloud.merge(mine, copy, key_of) is None:
            raise PersonaError("the copy could not be read")


def _merged(root: Path) -> tuple[list[str], bool]:
    return ids(root), (root / "persona-mind/memory/ltm" / _COPY).exists()


def _never_lost(before: object, after: object, state: object) -> bool:
    """Rows are taken in before the copy goes."""
    rows, there = cast("tuple[list[str], bool]", state)
    whole, _ = cast("tuple[list[str], bool]", after)
    return state in (before, after) or (rows == whole and there)


WHOLE = (
    Operation("erase", _fill, _erase, _kept, _erase_again, legal=_same_rest),
    Operation("backup", lambda root: _put(root, "one", "two"), _backup, _backups),
    Operation("restore", _to_restore, _restore, ids),
    Operation("merge", _with_copy, _merge, _merged, legal=_never_lost),
)

"""The promises of the engine, each as one check that returns what it found broken.

The healthy engine must pass all of them; each mutant must fail at least the one named for it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, cast

from persona_hooks.errors import PersonaError
from tests.support.crash import documents, powerloss, writers
from tests.support.crash.battery import child, injure
from tests.support.crash.effects import Plan, Shim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from persona_store.rows import Row, Snapshot
    from tests.support.crash.effects import Fault

MEMORY = Path("/dev/shm")  # noqa: S108 - only where it is fast; every use makes a directory of its own


def _base() -> Path:
    """One directory for this process and all it starts; the process that made it removes it when it ends."""
    known = os.environ.get("PERSONA_TEST_CRASH_BASE")
    if known is not None:
        return Path(known)
    base = tempfile.mkdtemp(prefix="persona-crash-", dir=MEMORY if MEMORY.is_dir() else None)
    os.environ["PERSONA_TEST_CRASH_BASE"] = base
    atexit.register(_remove, base, os.getpid())
    return Path(base)


def _remove(base: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(base, ignore_errors=True)


_base()


def scratch() -> Path:
    """A fresh directory, in memory where there is such a place."""
    return Path(tempfile.mkdtemp(dir=_base())).resolve()


def power_loss(cap: int = 12) -> list[str]:
    """No state the disk may be left in breaks the promise or keeps writers out."""
    root = scratch() / "agent"
    root.mkdir(mode=0o700)
    events = powerloss.record([step for step, _ in documents.STEPS], root)
    return powerloss.judge(events, root.parent, documents.after_power_loss, cap=cap, stop_at=1).violations


def power_loss_from_nothing(cap: int = 12) -> list[str]:
    """Nor does it where everything down from the home directory's first own name had to be made."""
    home = _home()
    events = powerloss.record(documents.FIRST_STEPS, home)
    return powerloss.judge(events, home.parent, documents.after_first_power_loss, cap=cap, stop_at=1).violations


def power_loss_after_a_break(cap: int = 12) -> list[str]:
    """Wherever the first change of all was broken off, the power takes nothing that a later one acknowledged."""
    effects = _effects(documents.FIRST_STEPS[0])
    found: list[str] = []
    for at in (at for at, name in enumerate(effects) if name in {"mkdir", "fsync", "rename"}):
        home = _home()
        events = powerloss.record([documents.broken_off_then("kept")], home, Plan(at, "interrupt"))
        found += powerloss.judge(events, home.parent, _kept, cap=cap, since=len(events) - 1).violations
    return found


def _home() -> Path:
    home = scratch() / "home"
    home.mkdir(mode=0o700)
    return home


def _effects(step: Callable[[Path], object]) -> list[str]:
    home = _home()
    shim = Shim(str(home))

    def work() -> list[str]:
        step(home)
        return shim.log

    return cast("list[str]", child(work, shim).value)


def _kept(home: Path, _acknowledged: int) -> str | None:
    held = documents.ids(home / ".pi" / "agent")
    return None if "kept" in held else f"holds {held}"


def _injured(name: str, *kinds: Fault, every: int = 1) -> list[str]:
    operation = next(operation for operation in documents.OPERATIONS if operation.name == name)
    return injure(operation, scratch(), kinds, every, stop_at=1).violations


def killed(every: int = 2) -> list[str]:
    """Killed or interrupted at any effect, a change happens or does not."""
    return _injured("add", "kill_before", "kill_after", "interrupt", every=every)


def refused(every: int = 3) -> list[str]:
    """Whatever the system refuses, the answer is true."""
    return _injured("add", "errno", every=every)


def cut_short() -> list[str]:
    """A write that takes fewer bytes than it was given is gone on with."""
    return _injured("add", "short")


def contended(processes: int = 4, adds: int = 20) -> list[str]:
    """Many writers lose nothing and agree on one order."""
    try:
        return writers.write_many(scratch() / "agent", processes, adds, slow=0.002).violations()
    except AssertionError as error:
        return [str(error)]


def hostile_links() -> list[str]:
    """A link in the place of a file is refused, and what it points at is untouched."""
    root = scratch()
    documents.add(root, "one")
    path = documents.store(root)[1].path
    victim = root / "victim.json"
    path.rename(victim)
    path.with_name(path.name + ".bak").unlink(missing_ok=True)
    path.symlink_to(victim)
    held = victim.read_bytes()
    try:
        documents.add(root, "two")
    except PersonaError:
        return [] if victim.read_bytes() == held and path.is_symlink() else ["the target of a link was changed"]
    return ["a link was followed"]


def fresh_names() -> list[str]:
    """No two temporary files have the same name, so that nobody can wait for one."""
    root, names, real = scratch(), list[str](), os.rename

    def rename(source: str, target: str, **keywords: int) -> None:
        names.append(source)
        real(source, target, **keywords)

    os.rename = rename  # type: ignore[assignment]
    try:
        documents.add(root, "one")
        documents.add(root, "two")
    finally:
        os.rename = real
    return [] if len(set(names)) == len(names) else ["a temporary name came twice"]


def repaired() -> list[str]:
    """A torn file is put aside whole, its previous version carried on, and the order never goes back."""
    return [*_repaired_once()]


def _repaired_once() -> Iterator[str]:
    root = scratch()
    for identity in ("one", "two", "three"):
        documents.add(root, identity)
    path = documents.store(root)[1].path
    torn = path.read_bytes()[:-30]
    path.write_bytes(torn)
    sequence = documents.add(root, "four")
    if documents.ids(root) != ["one", "two", "four"]:
        yield f"holds {documents.ids(root)}"
    if torn not in {kept.read_bytes() for kept in path.parent.glob("*.corrupt-*")}:
        yield "the torn file was not kept"
    if path.with_name(path.name + ".bak").read_bytes() == torn:
        yield "the torn file became the previous version"
    if sequence != int(documents.NOW.timestamp() * 1000):
        yield f"the order went back to {sequence}"


def edited_meanwhile() -> list[str]:
    """What another program puts in the file's place while a change is prepared is not lost."""
    root = scratch()
    documents.add(root, "one")
    mine, document = documents.store(root)
    other = scratch()
    documents.add(other, "theirs")
    theirs = documents.store(other)[1].path
    replaced = False

    def mutate(snapshot: Snapshot[documents.Item]) -> list[Row[documents.Item]]:
        nonlocal replaced
        if not replaced:
            replaced = True
            theirs.replace(document.path)
        return documents.adding(document, "two")(snapshot)

    with mine.transaction() as transaction:
        transaction.update(document, mutate)
    return [] if documents.ids(root) == ["theirs", "two"] else [f"holds {documents.ids(root)}"]


CHECKS: dict[str, Callable[[], list[str]]] = {
    check.__name__: check
    for check in (
        power_loss,
        power_loss_from_nothing,
        power_loss_after_a_break,
        killed,
        refused,
        cut_short,
        contended,
        hostile_links,
        fresh_names,
        repaired,
        edited_meanwhile,
    )
}

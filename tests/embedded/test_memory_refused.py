"""What ``persona doctor`` says first is what memory does: refused, held by somebody, recovered, or at work."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from persona_store import holders

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.cli import Persona

FACT = "The mast is red."
LIVE = "memory/ltm/_default.json"
LOCK = ".locks/memory.transaction"
FOREIGN = replace(holders.this_process(), host="laptop", machine="other", boot="other")
# Root may read and write whatever its modes say, until it gives that up.
BOUND = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")


@pytest.fixture
def bound(persona: Persona) -> Persona:
    """Commands run as an account that modes hold for, whoever runs the tests."""
    if os.geteuid() == 0 and shutil.which(BOUND[0]) is None:
        pytest.skip("needs setpriv to give up root's rights")
    return replace(persona, through=BOUND if os.geteuid() == 0 else ())


@pytest.fixture
def root(persona: Persona, agent_dir: Path) -> Path:
    persona("mind", "remember", FACT)
    persona("mind", "remember", "The hull is blue.")
    return agent_dir / "persona-mind"


def torn(root: Path) -> None:
    for name in (LIVE, f"{LIVE}.bak"):
        (root / name).write_text("torn")


def older(root: Path) -> None:
    newer, before = (root / LIVE).read_bytes(), (root / f"{LIVE}.bak").read_bytes()
    (root / LIVE).write_bytes(before)
    (root / f"{LIVE}.bak").write_bytes(newer)


def link(root: Path) -> None:
    (root / LIVE).rename(root / "elsewhere")
    (root / LIVE).symlink_to(root / "elsewhere")


def newer_release(root: Path) -> None:
    (root / LIVE).write_bytes((root / LIVE).read_bytes().replace(b'"version": 1', b'"version": 9'))


def locks_are_a_file(root: Path) -> None:
    shutil.rmtree(root / ".locks")
    (root / ".locks").touch()


def lock_is_a_folder(root: Path) -> None:
    (root / LOCK).unlink()
    (root / LOCK).mkdir()


def lock_of_another_machine(root: Path) -> None:
    (root / LOCK).write_bytes(FOREIGN.record())


def profile_is_a_file(root: Path) -> None:
    root.rename(root.with_name("aside"))
    root.touch()


def tombstones_torn(root: Path) -> None:
    (root / "tombstones.json").write_text("torn")


def closed(name: str, mode: int) -> Callable[[Path], None]:
    def close(root: Path) -> None:
        (root / name).chmod(mode)

    return close


FAULTS = {
    "both versions torn": (torn, LIVE),
    "older than its previous version": (older, LIVE),
    "a link": (link, LIVE),
    "of a newer release": (newer_release, LIVE),
    "a folder in place of the previous version": (
        lambda root: [(root / f"{LIVE}.bak").unlink(), (root / f"{LIVE}.bak").mkdir()],
        f"{LIVE}.bak",
    ),
    "locks are a file": (locks_are_a_file, ".locks"),
    "the lock is a folder": (lock_is_a_folder, LOCK),
    "the lock is another machine's": (lock_of_another_machine, LOCK),
    "the profile is a file": (profile_is_a_file, ""),
    "tombstones torn": (tombstones_torn, "tombstones.json"),
    "a folder that takes nothing": (closed("memory/ltm", 0o500), "memory/ltm"),
    "a folder that does not open": (closed("memory", 0o000), "memory"),
    "a profile that does not open": (closed("", 0o000), ""),
    "a document that does not open": (closed(LIVE, 0o000), LIVE),
    "a lock that does not open": (closed(LOCK, 0o000), LOCK),
    "locks that do not open": (closed(".locks", 0o000), ".locks"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_memory_that_is_refused_is_what_doctor_says_first_with_what_to_do(
    root: Path, bound: Persona, kind: str, request: pytest.FixtureRequest
) -> None:
    injure, where = FAULTS[kind]
    injure(root)
    request.addfinalizer(lambda: [(root / name).chmod(0o700) for name in ("", "memory", ".locks") if root.is_dir()])
    refused = bound("mind", "remember", "The keel is green.")
    assert refused.code == 1, refused.out

    told = bound("doctor")

    first = told.err.split("\n")[0]
    assert (told.code, told.out) == (1, "")
    assert first.startswith(
        f"✗ Memory is refused: {'nothing can be written in ' * ('takes nothing' in kind)}{root / where}"
    )
    assert len(first.partition(" — ")[2]) > len("upgrad")
    report = bound("doctor", "--json")
    assert (report.code, report.json()["ok"]) == (1, False)
    # The report itself was given, which is what was asked for.
    assert bound("mind", "doctor").out.startswith("✗ Mind: refused: ")


def test_the_command_that_doctor_names_opens_memory_again(root: Path, bound: Persona) -> None:
    folder = root / "memory" / "ltm"
    for path, mode in ((folder, 0o500), (folder / "_default.json", 0o000), (root / LOCK, 0o000), (root, 0o000)):
        path.chmod(mode)
        command = bound("doctor").err.split("`")[1]
        subprocess.run(["/bin/sh", "-c", command], check=True)
        assert bound("doctor").code == 0, command
    assert bound("mind", "recall").code == 0


def test_doctor_asks_without_changing_anything(persona: Persona, root: Path) -> None:
    persona("mind", "backlog", "add", "paint the mast")
    (root / LOCK).chmod(0o644)

    def seen() -> dict[Path, tuple[int, ...]]:
        statuses = {path: path.lstat() for path in [root, *root.rglob("*")]}
        return {path: (one.st_mode, one.st_size, one.st_mtime_ns, one.st_ctime_ns) for path, one in statuses.items()}

    before = seen()
    assert persona("doctor").code == 0
    assert seen() == before


def test_memory_that_is_off_is_not_told_as_a_fault(persona: Persona, root: Path) -> None:
    persona("mind", "off")
    torn(root)
    told = persona("doctor")
    assert (told.code, told.out.startswith("! Memory is off")) == (0, True)


@pytest.mark.parametrize("kind", ["profile", "backups"])
def test_what_cannot_be_looked_at_is_not_told_as_being_there_or_not(
    root: Path, bound: Persona, kind: str, request: pytest.FixtureRequest
) -> None:
    path = root if kind == "profile" else root / "backups"
    path.mkdir(exist_ok=True)
    path.chmod(0o000)
    request.addfinalizer(lambda: path.chmod(0o700))
    told = bound("mind", "doctor").out
    assert "TypeScript" not in told
    assert "none yet" not in told
    assert "latest daily backup: unknown" in told


def test_who_holds_memory_is_named_until_it_lets_go(persona: Persona, root: Path) -> None:
    assert persona("doctor").out.startswith("✓ Memory works")
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    me = replace(
        holders.this_process(), pid=child.pid, start=holders.start_token(child.pid) or "-", since=int(time.time())
    )
    try:
        with (root / LOCK).open("r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(me.record())
            file.flush()
            told = persona("doctor")
            asked = persona("mind", "doctor")
    finally:
        child.kill()
        child.wait()
    first = told.out.split("\n")[0]
    assert told.code == 0
    assert first.startswith(f"! Memory works, but {root / LOCK} is held by process {child.pid} on ")
    assert " since " in first
    assert f"warning: {root / LOCK} is held by process {child.pid}" in asked.out


def test_a_recovery_of_the_last_days_is_what_doctor_says_first(persona: Persona, root: Path) -> None:
    os.truncate(root / LIVE, 100)
    persona("mind", "remember", "The keel is green.")

    told = persona("doctor")

    first = told.out.split("\n")[0]
    assert told.code == 0
    assert first.startswith(f"! Memory works, but {root / LIVE} was damaged; its previous version went on")
    assert "_default.json.corrupt-0" in first
    assert "warnings: none" not in told.out
    # What is long past needs nobody any more.
    log = root / "diagnostics.jsonl"
    year = time.strftime("%Y", time.gmtime())
    log.write_text(log.read_text().replace(f'"at": "{year}', '"at": "2020'))
    assert persona("doctor").out.startswith("✓ Memory works")


def test_a_model_is_not_told_that_nothing_is_remembered_where_memory_cannot_be_read(
    persona: Persona, root: Path
) -> None:
    torn(root)
    told = persona("inject", "--prompt", "Which colour is the mast?").out
    assert "could not be read" in told
    assert "Nothing is remembered" not in told

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import PersonaError
from persona_store.standing_lock import StandingLock

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).with_name("waking_child.py")
ROOT = Path(__file__).parents[2]


class Waking:
    """A child that waits for reminders."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert self.line() == "ready"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def add(self, text: str) -> list[str]:
        """Queue what is due at once; return what the child tells until it has answered."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{text}\n")
        self.process.stdin.flush()
        told = [self.line()]
        while not told[-1].startswith("added"):
            told.append(self.line())
        return told


@contextmanager
def waking(environ: dict[str, str], home: Path, project: Path, name: str) -> Iterator[Waking]:
    variables = environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'hooks'}"}
    with subprocess.Popen(
        [sys.executable, str(CHILD), str(home), str(project), name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=variables,
    ) as process:
        try:
            yield Waking(process)
        finally:
            if process.poll() is None:
                process.kill()


def test_one_of_two_processes_shows_reminders_and_the_other_takes_over_when_it_is_killed(
    environ: dict[str, str], home: Path, project: Path
) -> None:
    with waking(environ, home, project, "s1") as one, waking(environ, home, project, "s2") as other:
        assert one.add("first") == ["info Reminder: first", "added True"]
        # Queued by the other, it is left to the one that was elected.
        assert other.add("second") == ["added True"]
        os.kill(one.process.pid, signal.SIGKILL)
        one.process.wait()
        assert other.add("third") == ["info 2 reminders: second", "added True"]
        assert other.add("fourth") == ["info Reminder: fourth", "added True"]
        other.process.communicate("")
        assert other.process.returncode == 0


def test_a_lock_is_kept_by_one_holder_and_let_go_by_release(profile: Path) -> None:
    one, other = (StandingLock(profile, "backlog/rocket.json.reminders") for _ in range(2))
    assert (one.held, profile.exists()) == (False, False)
    assert one.take()
    assert one.take()
    assert not other.take()
    one.release()
    assert not one.held
    assert other.take()
    other.release()
    other.release()
    assert stat.S_IMODE(one.path.stat().st_mode) == 0o600


def test_a_lock_file_that_is_a_link_is_refused(profile: Path, tmp_path: Path) -> None:
    lock = StandingLock(profile, "backlog/rocket.json.reminders")
    lock.path.parent.mkdir(parents=True)
    target = tmp_path / "target"
    target.write_text("precious")
    lock.path.symlink_to(target)
    with pytest.raises((PersonaError, OSError)):
        lock.take()
    assert target.read_text() == "precious"
    lock.path.unlink()
    os.link(target, lock.path)
    with pytest.raises(PersonaError):
        lock.take()
    assert target.read_text() == "precious"

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import StorageError, UncertainError
from persona_store.transaction import Transaction

if TYPE_CHECKING:
    from persona_mind.library import Mind

HERE = Path(__file__).parent


def test_a_promotion_that_is_killed_in_between_leaves_a_duplicate_and_no_loss(
    mind: Mind, environ: dict[str, str], agent_dir: Path, project: Path
) -> None:
    saved = mind.remember("deploys need a tag", scope="stm", ttl_hours=80_000)
    child = [sys.executable, str(HERE / "interrupted_child.py"), str(agent_dir), str(project), saved.id]
    done = subprocess.run(child, env=environ, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert [mind.recall(scope=scope).total for scope in ("project", "stm")] == [1, 1]
    assert mind.promote(saved.id).scope == "project"
    assert [mind.recall(scope=scope).total for scope in ("project", "stm")] == [1, 0]


def test_several_processes_lose_nothing_of_what_each_remembers(
    mind: Mind, environ: dict[str, str], agent_dir: Path, project: Path
) -> None:
    child = [sys.executable, str(HERE / "remembering_child.py"), str(agent_dir), str(project)]
    running = [subprocess.Popen([*child, name, "8"], env=environ) for name in ("Bob", "Cid", "Dee")]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert mind.recall(scope="shared").total == 24


def test_half_of_a_change_is_told_as_uncertain_and_nothing_is_lost(mind: Mind, monkeypatch: pytest.MonkeyPatch) -> None:
    old = mind.remember("the build is broken", scope="stm")
    update, done = Transaction.update, [0]

    def second_fails(self: Transaction, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - passed through
        done[0] += 1
        if done[0] == 2:
            raise StorageError("the disk is full")
        return update(self, *arguments, **named)

    monkeypatch.setattr(Transaction, "update", second_fails)
    with pytest.raises(UncertainError) as caught:
        mind.remember("the build needs Node 22", supersedes=old.id)
    assert (caught.value.changed, caught.value.reason) == ("yes", "partly_done")
    monkeypatch.undo()
    assert mind.recall().total == 2

"""One session log and several real processes, some of which are killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from persona_hooks.journal import JsonlJournal

CHILD = Path(__file__).with_name("appending_child.py")
ENDLESS = 1_000_000
HOLDER = """
import sys, time
from pathlib import Path
from persona_hooks import logfile
with logfile.locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""

KILLED = """
import os, signal, sys
from pathlib import Path
from persona_hooks.journal import JsonlJournal
os.link = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
JsonlJournal(Path(sys.argv[1]), "session-1", "/work").message("user", "zebra")
"""


def start(path: Path, name: str, count: int, environ: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(path), name, str(count)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )


def go(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("go\n")
    child.stdin.flush()


def contents(path: Path) -> list[str]:
    return [" ".join(entry.data["content"].split()[:2]) for entry in JsonlJournal.open(path).branch()]


def test_processes_that_append_at_once_lose_and_mix_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    path = tmp_path / "log.jsonl"
    children = [start(path, name, 40, environ) for name in "abc"]
    for child in children:
        go(child)
    told = [child.communicate(timeout=50)[0] for child in children]
    assert [child.returncode for child in children] == [0, 0, 0]
    journal = JsonlJournal.open(path)
    assert journal.damage == []
    # Nobody left the end of the log, so all of it is one branch, in which each kept its own order.
    assert journal.branch() == journal.entries()
    order: dict[str, list[str]] = defaultdict(list)
    for content in contents(path):
        order[content[0]].append(content)
    assert order == {name: [f"{name} {number}" for number in range(40)] for name in "abc"}
    assert sorted(line.split()[2] for text in told for line in text.splitlines()) == sorted(
        entry.id for entry in journal.entries()
    )


@pytest.mark.parametrize("after", [1, 2, 5, 13, 34])
def test_a_process_killed_while_it_appends_loses_nothing_it_told_of(
    tmp_path: Path, environ: dict[str, str], after: int
) -> None:
    path = tmp_path / "log.jsonl"
    child = start(path, "a", ENDLESS, environ)
    go(child)
    assert child.stdout is not None
    told = [child.stdout.readline() for _ in range(after)]
    child.kill()
    told += child.stdout.readlines()
    child.communicate()
    journal = JsonlJournal.open(path)
    assert {line.split()[2] for line in told if line.endswith("\n")} <= {entry.id for entry in journal.entries()}
    receipt = journal.message("user", "after the kill")
    again = JsonlJournal.open(path)
    assert again.leaf == receipt.id
    assert again.branch() == journal.branch()
    assert len(again.branch()) >= after + 1
    assert [item.name for item in tmp_path.glob("*.jsonl")] == ["log.jsonl"]


def test_a_killed_holder_of_the_lock_keeps_nobody_out(tmp_path: Path, environ: dict[str, str]) -> None:
    path = tmp_path / "log.jsonl"
    JsonlJournal(path, "session-1", "/work").message("user", "hello")
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HOLDER,
            str(path),
        ],
        stdout=subprocess.PIPE,
        text=True,
        env=environ,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.kill()
    holder.communicate()
    assert JsonlJournal.open(path).message("user", "more").durable


@pytest.mark.skipif(os.name != "posix", reason="a process cannot be killed so exactly there")
@pytest.mark.parametrize("name", ["log.jsonl", "another.jsonl"])
def test_what_a_killed_creation_left_goes_with_the_next_log_once_no_creation_can_need_it(
    tmp_path: Path, environ: dict[str, str], name: str
) -> None:
    logs = tmp_path / "logs"
    subprocess.run([sys.executable, "-c", KILLED, str(logs / "log.jsonl")], env=environ, check=False)
    (left,) = logs.glob(".log.jsonl.*.tmp")
    assert b"zebra" in left.read_bytes()
    others = [logs / name for name in (".log.jsonl.tmp", "log.jsonl.0123456789abcdef.tmp", ".x.0123.tmp")]
    long_ago = time.time() - 3600
    for path in others:
        path.touch()
        os.utime(path, (long_ago, long_ago))
    JsonlJournal(logs / name, "session-2", "/work")
    assert left.exists()
    os.utime(left, (long_ago, long_ago))
    JsonlJournal(logs / name, "session-2", "/work")
    assert sorted(logs.iterdir()) == sorted(others)

"""Listing the logs of a folder."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from persona_hooks import session_logs
from persona_hooks.journal import JsonlJournal
from persona_hooks.ports import Guard
from persona_hooks.session_logs import sessions

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, name: str, *, words: object = "hello there", changed: float = 1e9) -> Path:
    journal = JsonlJournal(folder / f"{name}.jsonl", name, f"/home/ann/{name}")
    journal.append(Guard(name, 0), "note", {})
    journal.message("system", "not this one")
    journal.message("user", words)
    os.utime(journal.path, (changed, changed))
    return journal.path


def test_a_folder_that_does_not_exist_has_no_sessions(tmp_path: Path) -> None:
    assert sessions(tmp_path / "nowhere") == []


def test_the_session_that_was_written_to_last_comes_first(tmp_path: Path) -> None:
    write(tmp_path, "older", changed=1e9)
    write(tmp_path, "newer", changed=2e9)
    assert [item.session_id for item in sessions(tmp_path)] == ["newer", "older"]


def test_a_session_is_told_by_place_time_and_first_words(tmp_path: Path) -> None:
    path = write(tmp_path, "one", words="  first\n\x1b[2Jwords " + "x" * 200)
    found = sessions(tmp_path)[0]
    assert (found.path, found.session_id, found.cwd, found.problem) == (path, "one", "/home/ann/one", "")
    assert found.title.startswith("first words x")
    assert len(found.title) == 80
    assert found.changed == datetime.fromtimestamp(1e9, UTC)
    assert found.started == JsonlJournal.open(path)._header.timestamp


def test_words_are_found_in_a_message_of_parts(tmp_path: Path) -> None:
    write(tmp_path, "one", words=[{"type": "image"}, {"type": "text", "text": "look"}, {"content": "here"}, 3])
    assert sessions(tmp_path)[0].title == "look here"


def test_a_broken_log_is_listed_with_its_problem(tmp_path: Path) -> None:
    write(tmp_path, "good")
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "bad.jsonl").write_bytes(b"\xff\xfe")
    found = {item.path.name: item for item in sessions(tmp_path)}
    assert found["good.jsonl"].problem == ""
    for name in ("empty.jsonl", "bad.jsonl"):
        assert name in found[name].problem
        assert found[name].session_id == ""


def test_links_directories_and_other_files_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    write(folder, "one")
    (folder / "link.jsonl").symlink_to(write(tmp_path, "elsewhere"))
    (folder / "dir.jsonl").mkdir()
    os.mkfifo(folder / "fifo.jsonl")
    (folder / "notes.txt").write_text("x", "utf-8")
    assert [item.path.name for item in sessions(folder)] == ["one.jsonl"]


def test_a_long_log_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = write(tmp_path, "one")
    with path.open("ab") as file:
        file.truncate(session_logs._PEEK * 10_000)
    assert sessions(tmp_path)[0].title == "hello there"

"""Installing and uninstalling: a host is left as it was found, to the byte."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from persona_hooks.errors import ConflictError, NotFoundError
from persona_host.adapters.folder import RECEIPT, Done, installed, put, take_away
from persona_host.adapters.installing import Target, install, uninstall
from persona_host.headless import NoModels, StderrUi, SystemScheduler
from persona_host.runtime import Runtime, Setup
from tests.support.stdio_host import interpreter

if TYPE_CHECKING:
    from collections.abc import Callable


def picture(root: Path) -> dict[str, bytes | None]:
    """Return every path below ``root`` with its content; None for directories."""
    paths = sorted(root.rglob("*"))
    return {str(path.relative_to(root)): path.read_bytes() if path.is_file() else None for path in paths}


def target(agent_dir: Path) -> Target:
    def runtime() -> Runtime:
        setup = Setup("test", agent_dir, agent_dir, {}, plugins=list)
        return Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler())

    return Target(agent_dir, {"PATH": ""}, runtime, Path(interpreter()), agent_dir.parents[1])


def nothing(_: Path) -> None:
    return


def a_pi_that_is_used(agent_dir: Path) -> None:
    (agent_dir / "extensions" / "mine").mkdir(parents=True)
    (agent_dir / "extensions" / "mine" / "index.ts").write_text("export default () => {}\n", encoding="utf-8")
    (agent_dir / "settings.json").write_text('{ "theme" : "dark" }', encoding="utf-8")


@pytest.mark.parametrize("before", [nothing, a_pi_that_is_used])
def test_uninstalling_pi_leaves_everything_as_it_was(home: Path, before: Callable[[Path], None]) -> None:
    agent_dir = home / ".pi" / "agent"
    before(agent_dir)
    found = picture(home)
    assert install("pi", target(agent_dir)).card.level == "success"
    assert (agent_dir / "extensions" / "persona-mind" / "index.ts").is_file()
    uninstall("pi", target(agent_dir))
    assert picture(home) == found


def test_installing_twice_changes_nothing(agent_dir: Path) -> None:
    install("pi", target(agent_dir))
    found = picture(agent_dir)
    assert "already" in install("pi", target(agent_dir)).card.title
    assert picture(agent_dir) == found


def test_an_absent_pi_is_said_and_is_no_error(agent_dir: Path) -> None:
    assert any("not found" in line for line in install("pi", target(agent_dir)).card.body)
    uninstall("pi", target(agent_dir))
    assert "not installed" in uninstall("pi", target(agent_dir)).card.title


def test_an_unknown_host_is_refused_with_the_known_ones(agent_dir: Path) -> None:
    with pytest.raises(NotFoundError, match="pi, mcp"):
        install("emacs", target(agent_dir))


def test_mcp_settings_are_shown_and_nothing_is_written(home: Path) -> None:
    card = install("mcp", target(home / ".pi" / "agent")).card
    assert any("persona_host.cli" in line for line in card.body)
    uninstall("mcp", target(home / ".pi" / "agent"))
    assert picture(home) == {}


def test_a_file_that_is_not_ours_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "index.ts").write_text("mine", encoding="utf-8")
    with pytest.raises(ConflictError) as caught:
        put(tmp_path, {"index.ts": "ours", "link.ts": "ours"})
    assert caught.value.details["paths"] == [str(tmp_path / "index.ts")]
    assert picture(tmp_path) == {"index.ts": b"mine"}


def test_an_older_installation_is_replaced_and_files_it_no_longer_has_go(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    put(folder, {"a": "1", "old": "1"})
    put(folder, {"a": "2"})
    assert (folder / "a").read_text(encoding="utf-8") == "2"
    assert not (folder / "old").exists()
    take_away(folder)
    assert picture(tmp_path) == {}


def test_a_file_that_somebody_changed_is_left_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    put(folder, {"a": "1", "b": "1"})
    (folder / "a").write_text("edited", encoding="utf-8")
    with pytest.raises(ConflictError):
        put(folder, {"a": "2", "b": "2"})
    for changed in (True, False):
        assert take_away(folder) == Done(changed=changed, left=(folder / "a",))
        assert {path for path, content in picture(tmp_path).items() if content} == {"new/a", f"new/{RECEIPT}"}
    (folder / "a").unlink()
    assert take_away(folder) == Done(changed=True)
    assert picture(tmp_path) == {}


def test_a_file_of_an_older_release_that_somebody_changed_is_not_forgotten(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    put(folder, {"a": "1", "old": "1"})
    (folder / "old").write_text("edited", encoding="utf-8")
    put(folder, {"a": "2"})
    assert put(folder, {"a": "2"}) == Done(changed=False)
    assert take_away(folder).left == (folder / "old",)


def test_a_directory_that_others_use_meanwhile_stays(tmp_path: Path) -> None:
    folder = tmp_path / "extensions" / "ours"
    put(folder, {"a": "1"})
    (tmp_path / "extensions" / "theirs").mkdir()
    take_away(folder)
    assert picture(tmp_path) == {"extensions": None, "extensions/theirs": None}


STRANGE_RECEIPTS = (
    "",
    "{",
    "[]",
    '{"files": 1, "made": []}',
    '{"files": {}, "made": 5}',
    '{"files": {"a": "1"}, "made": []}',
    '{"files": {"a": ""}, "made": []}',
    '{"files": {}, "made": [1]}',
    '{"packages": ["theirs"]}',
    "[" * 50_000,
)


@pytest.mark.parametrize("receipt", STRANGE_RECEIPTS, ids=range(len(STRANGE_RECEIPTS)))
def test_a_receipt_that_is_none_of_ours_stops_everything_and_stays(tmp_path: Path, receipt: str) -> None:
    (tmp_path / RECEIPT).write_text(receipt, encoding="utf-8")
    for do in (take_away, installed, partial(put, files={"a": "1"})):
        with pytest.raises(ConflictError) as caught:
            do(tmp_path)
        assert str(tmp_path / RECEIPT) in caught.value.message
        assert f"emove {tmp_path}" not in caught.value.message
    assert picture(tmp_path) == {RECEIPT: receipt.encode()}


def test_an_edited_receipt_cannot_reach_outside_of_its_folder(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = tmp_path / "ours"
    put(folder, {"a": "1"})
    text = (folder / RECEIPT).read_text(encoding="utf-8")
    text = text.replace('"a":', '"../outside/x":').replace(str(folder), str(outside))
    (folder / RECEIPT).write_text(text, encoding="utf-8")
    take_away(folder)
    assert outside.is_dir()

"""The host's own commands."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING
from unittest.mock import ANY

import pytest
from wcwidth import wcswidth

from persona_host.embedded import slash
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.painting import Surface
from persona_host.embedded.plain import answer
from persona_host.embedded.terminal import TerminalScreen
from tests.support.embedded import RecordingScreen, Spy, messages

if TYPE_CHECKING:
    from persona_host.place import Place
    from tests.embedded.conftest import Opener


@pytest.fixture
def host(open_host: Opener) -> EmbeddedHost:
    return open_host()


def said(host: EmbeddedHost, screen: RecordingScreen, line: str) -> str:
    answer(host, line)
    return screen.events[-1].card.text()


def test_help_lists_the_hosts_commands_and_the_plugins(host: EmbeddedHost, screen: RecordingScreen) -> None:
    text = said(host, screen, "/help")
    assert all(f"/{name}" in text for name in ("new", "resume", "tree", "fork", "model", "quit", "spy …  keep"))


@pytest.mark.parametrize("line", ["/help spy", "/help /spy", "/spy help", "/spy --help"])
def test_help_tells_of_one_group(host: EmbeddedHost, screen: RecordingScreen, line: str) -> None:
    assert re.search(r"^/spy keep +Keep a text\.$", said(host, screen, line), re.MULTILINE)
    assert screen.events[-1].ok


def test_help_tells_of_one_command(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert said(host, screen, "/help spy keep").splitlines() == ["/spy keep TEXT…", "Keep a text.", ANY]
    assert "What to keep." in screen.events[-1].card.text()
    assert "/resume [NUMBER|ID]" in said(host, screen, "/help resume")
    assert not (said(host, screen, "/help nothing") and screen.events[-1].ok)


@pytest.mark.parametrize(
    ("line", "meant"),
    [("/hlep", "/help"), ("/spi keep x", "/spy keep"), ("/spy kep x", "/spy keep"), ("/keep x", "/spy keep")],
)
def test_what_was_probably_meant_is_offered(host: EmbeddedHost, screen: RecordingScreen, line: str, meant: str) -> None:
    assert f"Did you mean {meant}?" in said(host, screen, line)


def test_a_group_is_asked_for_help_where_its_command_is_unknown(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert said(host, screen, "/spy xyz").endswith("/help spy tells what each of them does.")
    assert "/help" not in said(host, screen, "/spy keep refuse")


@pytest.mark.parametrize("width", [80, 120])
def test_help_fits_a_screen_and_begins_with_mind(place: Place, width: int) -> None:
    out = io.StringIO()
    screen = TerminalScreen(Surface(out, width))
    host = EmbeddedHost.start(place, screen=screen, ui=screen)
    try:
        answer(host, "/help")
    finally:
        host.close()
    lines = out.getvalue().splitlines()
    assert lines[1].startswith("/mind ")
    assert len(lines) < 24


def test_a_plugins_command_is_performed_for_the_person(host: EmbeddedHost, screen: RecordingScreen, spy: Spy) -> None:
    assert said(host, screen, "/spy keep a port") == "Card for 1."
    assert spy.kept == ["user:a port"]
    assert "input" not in spy.fired
    assert [(event.kind, event.ok) for event in screen.events] == [("answer", True), ("card", True)]


def test_a_refused_command_is_an_answer(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert said(host, screen, "/spy keep refuse") == "It may not be kept."
    assert not screen.events[-1].ok


def test_an_unknown_command_names_the_known_ones_and_the_way_out(host: EmbeddedHost, screen: RecordingScreen) -> None:
    text = said(host, screen, "/etc/passwd is readable")
    assert "/help" in text
    assert "space before it" in text
    assert "passwd" not in text


def test_a_slash_after_a_space_is_a_message(host: EmbeddedHost) -> None:
    answer(host, " /etc/passwd is readable")
    assert messages(host.journal.branch()) == [("user", " /etc/passwd is readable")]


def test_quit_leaves(host: EmbeddedHost) -> None:
    with pytest.raises(slash.Leave):
        answer(host, "/quit")


def test_a_session_is_found_again_by_number_and_by_id(host: EmbeddedHost, screen: RecordingScreen) -> None:
    answer(host, "first session")
    first = host.runtime.session.id
    said(host, screen, "/new")
    assert first in said(host, screen, "/resume")
    assert f"Back in session {first}" in said(host, screen, "/resume 1")
    said(host, screen, "/new")
    assert f"Back in session {first}" in said(host, screen, f"/resume {first}")
    assert "you: first session" in screen.events[-1].card.text()


def test_an_unknown_session_is_refused(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert "no session of that name" in said(host, screen, "/resume 7")
    assert not screen.events[-1].ok


def test_the_tree_shows_the_branches_and_goes_back(host: EmbeddedHost, screen: RecordingScreen) -> None:
    answer(host, "one")
    one = host.journal.leaf
    answer(host, "two")
    said(host, screen, f"/tree {one}")
    answer(host, "three")
    lines = said(host, screen, "/tree").splitlines()
    marked = {line.rpartition(": ")[2]: line.startswith("*") for line in lines if "you:" in line}
    assert marked == {"one": True, "two": False, "three": True}


def test_an_unknown_entry_is_refused(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert "no entry" in said(host, screen, "/tree zzz")
    assert "no entry" in said(host, screen, "/fork zzz")


def test_a_fork_says_where_it_went(host: EmbeddedHost, screen: RecordingScreen) -> None:
    answer(host, "one")
    before = host.runtime.session.id
    text = said(host, screen, "/fork")
    assert f"into session {host.runtime.session.id}; it goes on here" in text
    assert f"/resume {before} goes back" in text
    assert host.runtime.session.id != before
    said(host, screen, f"/resume {before}")
    assert host.runtime.session.id == before


@pytest.mark.parametrize("line", ["/new", "/fork", "/resume 1"])
def test_whoever_changes_the_session_is_told_the_way_back(
    host: EmbeddedHost, screen: RecordingScreen, line: str
) -> None:
    answer(host, "one")
    before = host.runtime.session.id
    assert f"/resume {before}" in said(host, screen, line)


def test_a_session_in_which_nothing_was_said_is_no_way_back(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert said(host, screen, "/new").count("/resume") == 0


def test_rows_fit_the_width_however_long_the_conversation_is(host: EmbeddedHost, screen: RecordingScreen) -> None:
    for number in range(20):
        answer(host, f"{number} {'漢字 and words ' * 20}")
        answer(host, "a short one")
        host.move(host.journal.branch()[-2].id)
    for line in ("/tree", "/resume"):
        rows = said(host, screen, line).splitlines()[1:]
        assert rows
        assert all(wcswidth(row) <= 80 for row in rows)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k-1")


@pytest.mark.usefixtures("key")
def test_the_model_is_shown_changed_and_announced(host: EmbeddedHost, screen: RecordingScreen, spy: Spy) -> None:
    assert "No model is configured" in said(host, screen, "/model")
    said(host, screen, "/model openai:tiny")
    assert "openai:tiny" in said(host, screen, "/model")
    assert "model_select:openai:tiny" in spy.fired


@pytest.mark.usefixtures("key")
def test_a_model_chosen_in_a_session_stays_in_the_next(host: EmbeddedHost, screen: RecordingScreen) -> None:
    said(host, screen, "/model openai:tiny")
    said(host, screen, "/new")
    assert "openai:tiny" in said(host, screen, "/model")


@pytest.mark.parametrize(
    ("name", "why"), [("openai:foo", "OPENAI_API_KEY holds no key"), ("nosuch:foo", "cannot be used")]
)
def test_a_model_that_is_not_set_up_is_not_taken(
    host: EmbeddedHost, screen: RecordingScreen, spy: Spy, name: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert why in said(host, screen, f"/model {name}")
    assert not screen.events[-1].ok
    assert host.models.session is None
    assert not any(name.startswith("model_select") for name in spy.fired)


def test_a_malformed_model_changes_nothing(host: EmbeddedHost, screen: RecordingScreen) -> None:
    assert "provider:name" in said(host, screen, "/model tiny")
    assert host.models.session is None


@pytest.mark.parametrize(
    ("line", "expected"),
    [("/re", ["/resume"]), ("/sp", ["/spy keep"]), ("/spy k", ["/spy keep"]), ("/", None), ("/nope", [])],
)
def test_completion_knows_both_kinds_of_commands(host: EmbeddedHost, line: str, expected: list[str] | None) -> None:
    found = slash.completions(host, line)
    assert found == expected if expected is not None else {"/help", "/quit", "/spy keep"} <= set(found)

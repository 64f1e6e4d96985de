"""The prompt, with prompt-toolkit's own pipe for a keyboard."""

from __future__ import annotations

import io
import threading
from typing import TYPE_CHECKING

import pytest
from prompt_toolkit.application.current import create_app_session
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from persona_hooks.cards import Card
from persona_host.embedded.host import EmbeddedHost
from persona_host.embedded.painting import Surface
from persona_host.embedded.screen import Event
from persona_host.embedded.terminal import Commands, Terminal, TerminalScreen
from tests.support.embedded import Spy, messages

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prompt_toolkit.buffer import Buffer
    from prompt_toolkit.input import PipeInput

    from persona_host.place import Place
    from tests.support.clock import ManualClock

CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def keys() -> Iterator[PipeInput]:
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=DummyOutput()):
        yield pipe


@pytest.fixture
def out() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def terminal_screen(out: io.StringIO) -> TerminalScreen:
    return TerminalScreen(Surface(out, 80))


@pytest.fixture
def host(place: Place, spy: Spy, terminal_screen: TerminalScreen, clock: ManualClock) -> Iterator[EmbeddedHost]:
    host = EmbeddedHost.start(place, screen=terminal_screen, ui=terminal_screen, scheduler=clock, plugins=spy.plugins)
    yield host
    host.close()


@pytest.fixture
def terminal(host: EmbeddedHost, terminal_screen: TerminalScreen, keys: PipeInput) -> Terminal:
    return Terminal(host, terminal_screen, source=keys, output=DummyOutput())


def test_lines_are_answered_until_ctrl_d(
    terminal: Terminal, host: EmbeddedHost, keys: PipeInput, out: io.StringIO
) -> None:
    keys.send_text(f"hello\r/spy keep a port\r{CTRL_D}")
    terminal.run()
    assert messages(host.journal.branch()) == [("user", "hello")]
    assert "No model is configured" in out.getvalue()
    assert "Card for 1." in out.getvalue()


def test_ctrl_c_drops_what_is_typed(terminal: Terminal, host: EmbeddedHost, keys: PipeInput) -> None:
    keys.send_text(f"half a thought{CTRL_C}whole\r{CTRL_D}")
    terminal.run()
    assert messages(host.journal.branch()) == [("user", "whole")]


@pytest.mark.parametrize("key", ["5~", "6~", "5;2~", "6;2~", "5;5~", "6;5~", "2~", "24~", "3;5~", "1;6A"])
def test_a_key_that_means_nothing_here_types_nothing(
    terminal: Terminal, host: EmbeddedHost, keys: PipeInput, key: str
) -> None:
    keys.send_text(f"he\x1b[{key}llo é\r{CTRL_D}")
    terminal.run()
    [(_, said)] = messages(host.journal.branch())
    assert said == "hello é"


def test_quit_leaves(terminal: Terminal, keys: PipeInput) -> None:
    keys.send_text("/quit\rnever read\r")
    terminal.run()


def test_tab_completes_a_command(terminal: Terminal, spy: Spy, keys: PipeInput) -> None:
    def completed(buffer: Buffer) -> None:
        if buffer.text == "/spy keep":
            keys.send_text(f" a port\r{CTRL_D}")

    terminal._prompt.default_buffer.on_text_changed += completed
    keys.send_text("/sp\t")
    terminal.run()
    assert spy.kept == ["user:a port"]


def test_a_message_is_not_completed(host: EmbeddedHost) -> None:
    assert list(Commands(host).get_completions(Document("hel"), CompleteEvent())) == []


def test_an_entry_that_comes_while_nobody_speaks_is_shown_above_the_prompt(
    terminal: Terminal, host: EmbeddedHost, keys: PipeInput, out: io.StringIO
) -> None:
    def arrive() -> None:
        host.journal.append(host.runtime.session.guard(), "spy-card", {"ids": ["idle"]})

    entered, drain = terminal._entered, host.turns.drain

    def at_the_prompt() -> None:
        entered()
        threading.Thread(target=arrive).start()

    def drained() -> None:
        host.turns.drain = drain  # type: ignore[method-assign]
        drain()
        keys.send_text(CTRL_D)

    terminal._entered = at_the_prompt  # type: ignore[method-assign]
    host.turns.drain = drained  # type: ignore[method-assign]
    terminal.run()
    assert "Card for idle." in out.getvalue()


def test_a_status_stands_in_the_toolbar_beside_persona_and_model(
    terminal: Terminal, spy: Spy, terminal_screen: TerminalScreen
) -> None:
    spy.persona = "ada"
    terminal_screen.status("mind", "3 facts")
    assert terminal._toolbar() == "ada · no model · 3 facts"
    terminal_screen.status("mind", None)
    assert terminal._toolbar() == "ada · no model"


def test_nothing_is_wider_than_eighty_columns(terminal_screen: TerminalScreen, out: io.StringIO) -> None:
    card = Card("a title " * 30, ("a body " * 40, "漢字" * 60), level="warning", hint="a hint " * 30)
    for whole in (False, True):
        terminal_screen.show(Event("card", ok=True, card=card, whole=whole))
    terminal_screen.notify("a notice " * 30, "error")
    from wcwidth import wcswidth  # noqa: PLC0415

    assert all(wcswidth(line) <= 80 for line in out.getvalue().splitlines())


def test_a_level_is_told_without_colour_too(terminal_screen: TerminalScreen, out: io.StringIO) -> None:
    terminal_screen.show(Event("error", ok=False, card=Card("Bad.", level="error")))
    assert out.getvalue().startswith("✗ Bad.")


def test_a_reply_is_broken_between_words_as_it_comes(terminal_screen: TerminalScreen, out: io.StringIO) -> None:
    words = "persona " * 30
    for at in range(0, len(words), 3):
        terminal_screen.delta(words[at : at + 3])
    terminal_screen.show(Event("reply", ok=True, card=Card("Reply"), said=words))
    assert out.getvalue().split() == words.split()
    assert all(len(line) <= 80 for line in out.getvalue().splitlines())


def test_a_sign_of_work_stands_until_something_is_shown(terminal_screen: TerminalScreen, out: io.StringIO) -> None:
    terminal_screen.waiting()
    assert out.getvalue() == "…"
    terminal_screen.delta("Hello there ")
    terminal_screen.show(Event("reply", ok=True, card=Card("Reply"), said="Hello there"))
    assert out.getvalue() == "…\r \rHello there\n\n"

"""Lines in, text or JSON out."""

from __future__ import annotations

import io
import json

import pytest

from persona_hooks.cards import Card
from persona_hooks.errors import InvalidError
from persona_host.embedded.plain import MAX_LINE, JsonScreen, PlainScreen, piped, typed
from persona_host.embedded.screen import Event


def test_lines_without_text_are_no_messages() -> None:
    assert list(piped(io.BytesIO(b"one\n\n  \r\ntwo\r\nthree"))) == ["one", "two", "three"]


def test_a_byte_order_mark_is_no_part_of_the_message() -> None:
    assert list(piped(io.BytesIO(b"\xef\xbb\xbfhello\n"))) == ["hello"]


def test_a_line_that_is_no_text_is_told_and_the_next_one_answered() -> None:
    wrong, right = piped(io.BytesIO(b"caf\xe9\nplain\n"))
    assert isinstance(wrong, InvalidError)
    assert right == "plain"


@pytest.mark.parametrize("size", [MAX_LINE, MAX_LINE + 1, 3 * MAX_LINE])
def test_a_line_of_any_length_is_taken_or_told(size: int) -> None:
    first, second = piped(io.BytesIO(b"x" * (size - 1) + b"\nnext\n"))
    assert isinstance(first, str) == (size <= MAX_LINE)
    assert second == "next"


def test_the_last_line_may_be_too_long_and_unfinished() -> None:
    [only] = piped(io.BytesIO(b"x" * (MAX_LINE + 5)))
    assert isinstance(only, InvalidError)


def test_typed_lines_end_with_the_input(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[str | type[BaseException]] = ["hello", KeyboardInterrupt, "  ", "bye", EOFError]

    def ask(_: str) -> str:
        item = answers.pop(0)
        if isinstance(item, str):
            return item
        raise item

    monkeypatch.setattr("builtins.input", ask)
    assert list(typed()) == ["hello", "bye"]


def test_a_json_outcome_is_one_line_with_the_four_fields() -> None:
    out = io.StringIO()
    screen = JsonScreen(out)
    screen.delta("ignored")
    screen.show(Event("reply", ok=True, card=Card("Reply"), data={"model": "m"}, said="two\nlines – é"))
    [line] = out.getvalue().splitlines()
    assert json.loads(line) == {"kind": "reply", "ok": True, "text": "two\nlines – é", "data": {"model": "m"}}


def test_a_streamed_reply_is_not_printed_twice() -> None:
    out = io.StringIO()
    screen = PlainScreen(out, 80)
    for piece in ("Hel", "lo"):
        screen.delta(piece)
    screen.show(Event("reply", ok=True, card=Card("Hello")))
    assert out.getvalue() == "Hello\n"


def test_terminal_sequences_of_a_model_do_not_reach_the_terminal() -> None:
    out = io.StringIO()
    screen = PlainScreen(out, 80)
    for piece in ("red \x1b[31mtext", "\x1b", "]0;title\x07"):
        screen.delta(piece)
    assert "\x1b" not in out.getvalue()
    assert "\x07" not in out.getvalue()


def test_a_card_after_an_unfinished_reply_begins_a_line() -> None:
    out = io.StringIO()
    screen = PlainScreen(out, 40)
    screen.delta("Half")
    screen.show(Event("card", ok=True, card=Card("Saved.", tuple("abcde"))))
    assert out.getvalue().splitlines() == ["Half", "Saved.", "a", "b", "c", "… +2 more lines"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_hint_is_never_cut(*, whole: bool) -> None:
    out = io.StringIO()
    hint = "Do this and then that. " * 9
    PlainScreen(out, 40).show(Event("card", ok=True, card=Card("Saved.", hint=hint), whole=whole))
    assert out.getvalue().splitlines() == ["Saved.", hint.strip()]


@pytest.mark.parametrize("columns", [None, 40])
def test_a_notice_is_never_cut(columns: int | None) -> None:
    out = io.StringIO()
    notice = "Set the provider's key variable and start again. " * 4
    PlainScreen(out, columns).show(Event("error", ok=False, card=Card(notice)))
    assert out.getvalue() == notice.strip() + "\n"


def test_a_pipe_gets_every_line_of_a_card_and_a_person_three() -> None:
    card = Card("Saved.", tuple("abcde"))
    piped_out, typed_out = io.StringIO(), io.StringIO()
    PlainScreen(piped_out, None).show(Event("card", ok=True, card=card))
    PlainScreen(typed_out, 40).show(Event("card", ok=True, card=card))
    assert piped_out.getvalue().split() == ["Saved.", *"abcde"]
    assert "+2 more" in typed_out.getvalue()


@pytest.mark.parametrize(("columns", "shown"), [(40, "…\n"), (None, "")])
def test_a_person_sees_that_the_model_works_and_a_pipe_does_not(columns: int | None, shown: str) -> None:
    out = io.StringIO()
    PlainScreen(out, columns).waiting()
    assert out.getvalue() == shown

"""Lines that fit a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from persona_hooks.cards import Card
from persona_host.embedded.painting import Surface, paint
from persona_host.embedded.wrapping import Flow, wrap

TEXT = st.text(st.sampled_from("ab /é漢字。\u0301"), max_size=200)
LINES = st.text(st.sampled_from("ab /é漢\n"), max_size=200)


@given(TEXT, st.integers(16, 60))
def test_no_line_is_wider_than_the_terminal_and_no_letter_is_lost(text: str, columns: int) -> None:
    lines = wrap(text, columns)
    assert all(wcswidth(line) <= columns for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(LINES, st.integers(16, 60), st.data())
def test_pieces_give_what_the_whole_gives(text: str, columns: int, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    whole, parts = Flow(columns), Flow(columns)
    assert parts.feed(text[:cut]) + parts.feed(text[cut:]) + parts.end() == whole.feed(text) + whole.end()


@given(st.lists(st.text("abc", min_size=1, max_size=16), min_size=1))
def test_a_word_that_fits_a_line_is_never_broken(words: list[str]) -> None:
    assert " ".join(wrap(" ".join(words), 16)).split() == words


def test_a_long_path_is_broken_after_a_slash() -> None:
    path = "/home/someone/.pi/agent/persona-mind/memory/ltm/_default.json"
    lines = wrap(f"  long-term: {path}", 40)
    assert "".join(line.strip() for line in lines) == f"long-term: {path}"
    assert all(line.endswith("/") for line in lines[:-1])
    assert all(line.startswith("  ") for line in lines)


def test_the_second_column_of_a_row_stays_a_column() -> None:
    first, *rest = wrap(f"/mind   {'remembered ' * 12}".strip(), 40)
    assert first.startswith("/mind   remembered")
    assert all(line.startswith(" " * 8 + "remembered") for line in rest)


@pytest.mark.parametrize("whole", [True, False])
def test_without_a_terminal_nothing_is_wrapped_or_cut(*, whole: bool) -> None:
    out = io.StringIO()
    lines = [f"{name} " * 60 for name in ("title", "one", "two", "three", "four", "hint")]
    paint(Surface(out, None), Card(lines[0].strip(), tuple(lines[1:5]), hint=lines[5].strip()), whole=whole)
    assert [line.strip() for line in out.getvalue().splitlines()] == [line.strip() for line in lines]

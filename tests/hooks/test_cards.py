"""Cards on a terminal: nothing of what somebody wrote can control it, and no line is longer than it is wide."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import iter_graphemes, wcswidth

from persona_hooks.cards import COMPACT_LINES, MIN_COLUMNS, Card, _unwanted, clip, compact, one_line, render, sanitize

FAMILY = "👨‍👩‍👧‍👦"
SCOTLAND = "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"
HOSTILE = st.text(
    st.one_of(
        st.sampled_from("\x1b\x07\x9b\x9c\x9d\x90\r\n\t\x00\x7f\u2028\u2029\u202e\u2066\x85[]P0;m\\ a"),
        st.characters(),
    )
)


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("\x1b[2J\x1b[Hhello", "hello"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07hello", "hello"),
        ("\x1b]0;title\x1b\\hello", "hello"),
        ("\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\", "click"),
        ("\x1b]8;;https://evil.example\x07click\x1b]8;;\x07", "click"),
        ("\x1b]52;c;c2VjcmV0\x07pasted", "pasted"),
        ("\x9b2Jhello", "hello"),
        ("\x9d0;title\x9chello", "hello"),
        ("\x90q#0;2;0;0;0\x9chello", "hello"),
        ("\x1bPq#0\x1b\\hello", "hello"),
        ("\x1b_Gf=100\x1b\\hello", "hello"),
        ("\x1b]0;never ended\nhello", "\nhello"),
        ("\x1b]0;never ended", ""),
        ("\x1b\x1b[2J[2J", "[2J"),
        ("a\x07b\x00c\x7f", "abc"),
        ("over\rwritten", "over\nwritten"),
        ("one\r\ntwo\u2028three\x85four\x0bfive", "one\ntwo\nthree\nfour\nfive"),
        ("user\u202egpj.exe", "usergpj.exe"),
        ("a\tb", "a    b"),
        ("lone \ud800 surrogate", "lone \ufffd surrogate"),
        (f"{FAMILY} שלום \u200fx é", f"{FAMILY} שלום \u200fx é"),
    ],
)
def test_terminal_sequences_are_stripped_and_words_stay(written: str, shown: str) -> None:
    assert sanitize(written) == shown


def test_what_can_be_printed_holds_nothing_to_take_out() -> None:
    printable = "".join(char for char in map(chr, range(0x110000)) if char.isprintable())
    assert not any(pattern.search(printable) for pattern in _unwanted())


@given(HOSTILE)
def test_no_control_character_is_left(text: str) -> None:
    shown = sanitize(text)
    assert not [char for char in shown if unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} and char != "\n"]
    assert sanitize(shown) == shown
    shown.encode("utf-8")


@given(HOSTILE)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text)
    assert "\n" not in line
    assert line == line.strip()
    assert "  " not in line


@given(HOSTILE, st.integers(2, 40))
def test_a_clipped_line_fits_and_tears_no_grapheme(text: str, columns: int) -> None:
    line = sanitize(text).replace("\n", " ")
    clipped = clip(text, columns)
    assert 0 <= wcswidth(clipped) <= columns
    if clipped != line:
        assert clipped.endswith("…")
        kept = list(iter_graphemes(clipped[:-1]))
        assert kept == list(iter_graphemes(line))[: len(kept)]


@pytest.mark.parametrize(
    ("text", "columns", "clipped"),
    [
        ("hello", 5, "hello"),
        ("hello!", 5, "hell…"),
        ("中文字", 6, "中文字"),
        ("中文字字", 6, "中文…"),
        (f"ab{FAMILY}", 4, f"ab{FAMILY}"),
        (f"ab{FAMILY}cd", 4, "ab…"),
        (f"{SCOTLAND}{SCOTLAND}", 3, f"{SCOTLAND}…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("שלום עולם", 6, "שלום…"),
        ("word another", 6, "word…"),
    ],
)
def test_width_is_counted_in_columns_and_the_cut_falls_between_graphemes(text: str, columns: int, clipped: str) -> None:
    assert clip(text, columns) == clipped


def test_a_compact_card_is_a_title_and_at_most_three_lines() -> None:
    card = Card("Title", ("one\ntwo", "three"), ("four", "five"), hint="Do this.")
    assert render(card) == ["Title", "one", "two", "three", "… +2 more lines", "Do this."]
    assert render(Card("Title", ("one",))) == ["Title", "one"]
    assert COMPACT_LINES == 3


def test_an_expanded_card_shows_every_line_whole() -> None:
    card = Card("Title", ("x" * 300,), ("detail",), hint="Do this.")
    assert render(card, expanded=True) == ["Title", "x" * 300, "detail", "Do this."]


def test_a_model_reads_the_whole_card_as_plain_text() -> None:
    card = Card("Ti\ntle\x1b[2J", ("one\ntwo",), ("three",), hint="Do this.")
    assert card.text() == "Ti tle\none\ntwo\nthree\nDo this."


def test_a_card_for_storing_holds_no_detail() -> None:
    assert compact(Card("T", ("b",), ("secret id",), hint="h")) == Card("T", ("b",), hint="h")


@given(title=HOSTILE, body=st.lists(HOSTILE, max_size=6), columns=st.integers(-5, 300), expanded=st.booleans())
def test_no_line_of_a_card_is_wider_than_the_terminal(
    title: str, body: list[str], columns: int, *, expanded: bool
) -> None:
    card = Card(title, tuple(body), hint=title)
    lines = render(card, columns=columns, expanded=expanded)
    assert all("\n" not in line for line in lines)
    if not expanded:
        assert all(wcswidth(line) <= max(columns, MIN_COLUMNS) for line in lines)
        assert len(lines) <= COMPACT_LINES + 3

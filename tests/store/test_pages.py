"""Rows in pages are a list of rows, whatever was done to them, and share what stayed the same."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_store import jsontext
from persona_store.pages import PAGE, Page, Rows
from persona_store.rows import Row, joined, pieces

if TYPE_CHECKING:
    from collections.abc import Callable

UPDATED = "2026-03-02T09:30:00.000Z"


def row(number: int) -> Row[int]:
    return Row(b'{"id": %d}' % number, number)


def many(count: int) -> list[Row[int]]:
    return [row(number) for number in range(count)]


def even(rows: Rows[int]) -> Rows[int]:
    return rows.change(lambda page: tuple(one for one in page.rows if one.value is None or one.value % 2 == 0))


Step = tuple[str, int]
STEPS = st.lists(st.tuples(st.sampled_from(["append", "replace", "drop", "insert", "cut"]), st.integers(0, 400)))


def replaced(rows: Rows[int], at: int, new: Row[int]) -> Rows[int]:
    for number, page in enumerate(rows.pages):
        if at < len(page.rows):
            return rows.replace(number, at, new)
        at -= len(page.rows)
    raise IndexError(at)


def paged(rows: Rows[int], step: Step) -> Rows[int]:
    word, at = step
    held = list(rows)
    target = held[at % len(held)] if held else None
    match word:
        case "append":
            return rows.append(row(1000 + at))
        case "replace" if target:
            return replaced(rows, at % len(held), row(2000 + at))
        case "drop" if target:
            return rows.change(lambda page: tuple(one for one in page.rows if one is not target))
        case "insert":
            return Rows.of([*held[:at], row(3000 + at), *held[at:]], rows)
        case "cut":
            return Rows.of(held[at:], rows)
        case _:
            return rows


def listed(held: list[Row[int]], step: Step) -> list[Row[int]]:
    word, at = step
    place = at % len(held) if held else 0
    match word:
        case "append":
            return [*held, row(1000 + at)]
        case "replace" if held:
            return [*held[:place], row(2000 + at), *held[place + 1 :]]
        case "drop" if held:
            return [*held[:place], *held[place + 1 :]]
        case "insert":
            return [*held[:at], row(3000 + at), *held[at:]]
        case "cut":
            return held[at:]
        case _:
            return held


@given(st.integers(0, 3 * PAGE), STEPS)
def test_pages_are_the_list_that_they_stand_for(count: int, steps: list[Step]) -> None:
    rows, held = Rows.of(many(count)), many(count)
    for step in steps:
        rows, held = paged(rows, step), listed(held, step)
        assert [one.raw for one in rows] == [one.raw for one in held]
        assert rows == Rows.of(held)
        assert hash(rows) == hash(Rows.of(held))
        assert len(rows) == len(held)
        assert all(0 < len(page.rows) <= 2 * PAGE for page in rows.pages)
        assert b"".join(pieces(rows, 7, UPDATED)) == jsontext.join(UPDATED, 7, [one.raw for one in held])


@given(st.integers(0, 3 * PAGE), st.integers(-4 * PAGE, 4 * PAGE))
def test_a_row_stands_at_its_number_also_from_the_end(count: int, at: int) -> None:
    rows, held = even(Rows.of(many(count))), many(count)[::2]
    if -len(held) <= at < len(held):
        assert rows[at] == held[at]
    else:
        with pytest.raises(IndexError):
            rows[at]
    assert rows[:at] == tuple(held[:at])


def append(rows: Rows[int]) -> Rows[int]:
    return rows.append(row(9_999))


def replace_last(rows: Rows[int]) -> Rows[int]:
    return replaced(rows, len(rows) - 1, row(9_999))


def rebuild(rows: Rows[int]) -> Rows[int]:
    return Rows.of([*rows, row(9_999)], rows)


@pytest.mark.parametrize("change", [append, replace_last, rebuild])
def test_a_change_shares_all_pages_but_the_one_it_is_in(change: Callable[[Rows[int]], Rows[int]]) -> None:
    before = Rows.of(many(5 * PAGE + 3))

    after = change(before)

    assert [one is two for one, two in zip(before.pages, after.pages, strict=True)] == [True] * 5 + [False]
    assert len(before) == 5 * PAGE + 3


def test_what_is_made_of_a_page_is_made_once() -> None:
    (page,) = Rows.of(many(3)).pages

    assert page.made(joined) is page.made(joined)
    assert page.made(len) == 3


def test_appending_for_ever_fills_pages_and_removing_leaves_no_crowd_of_small_ones() -> None:
    rows = Rows[int]()
    for number in range(3 * PAGE):
        rows = rows.append(row(number))
    assert [len(page.rows) for page in rows.pages] == [PAGE] * 3

    assert [len(page.rows) for page in even(rows).pages] == [PAGE, PAGE // 2]


def left(gone: set[bytes], page: Page[int]) -> tuple[Row[int], ...]:
    return tuple(row for row in page.rows if row.raw not in gone)


@pytest.mark.parametrize("order", [1, -1])
def test_removing_page_by_page_leaves_no_crowd_of_small_ones_whichever_way(order: int) -> None:
    rows = Rows.of(many(20 * PAGE))

    for page in list(rows.pages)[::order]:
        gone = {row.raw for row in page.rows[1:]}
        rows = rows.change(partial(left, gone))

    assert [len(page.rows) for page in rows.pages] == [20]

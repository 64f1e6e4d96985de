"""Rows in pages: a sequence that shares with the version before it whatever stayed the same.

A document holds up to ten thousand rows, and a change touches one of them. A page never changes, so what is made of it
(its bytes, an index of its rows) is made once for all the versions that it is part of, and goes with the last of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, overload

if TYPE_CHECKING:
    from persona_store.rows import Row

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Made = TypeVar("Made")

PAGE: Final = 128
"""Rows in a page: few enough that making one anew costs nothing, and ten thousand are less than a hundred pages."""


class Page(Generic[T_co]):
    """Some rows that follow one another."""

    __slots__ = ("_made", "rows")

    def __init__(self, rows: tuple[Row[T_co], ...]) -> None:
        self.rows = rows
        self._made: dict[Callable[..., Any], Any] = {}

    def made(self, make: Callable[[tuple[Row[T_co], ...]], Made]) -> Made:
        """Return what ``make`` makes of these rows, made once.

        ``make`` must be pure, and a function of a module, since what it made is kept for as long as the page.
        """
        try:
            found: Made = self._made[make]
        except KeyError:
            found = self._made[make] = make(self.rows)
        return found


class Rows(Sequence["Row[T_co]"]):
    """The rows of one version, in order. Never changes; equal to another one that holds equal rows."""

    __slots__ = ("_length", "pages")

    def __init__(self, pages: Sequence[Page[T_co]] = ()) -> None:
        self.pages = tuple(pages)
        self._length = sum([len(page.rows) for page in self.pages])

    @classmethod
    def of(cls, rows: Iterable[Row[T]], known: Rows[T] | None = None) -> Rows[T]:
        """Return these rows in pages, sharing the pages of ``known`` that stand in the same place."""
        if isinstance(rows, Rows):
            return rows
        left, at, pages = tuple(rows), 0, list[Page[T]]()
        for page in known.pages[:-1] if known else ():
            part = left[at : at + len(page.rows)]
            pages.append(page if part == page.rows else Page(part))
            at += len(page.rows)
        pages += [Page(left[start : start + PAGE]) for start in range(at, len(left), PAGE)]
        return Rows([page for page in pages if page.rows])

    def __len__(self) -> int:
        """Return how many rows there are."""
        return self._length

    def __iter__(self) -> Iterator[Row[T_co]]:
        """Iterate over the rows in file order."""
        return chain.from_iterable([page.rows for page in self.pages])

    @overload
    def __getitem__(self, at: int) -> Row[T_co]: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Row[T_co], ...]: ...
    def __getitem__(self, at: int | slice) -> Row[T_co] | tuple[Row[T_co], ...]:
        """Return a row, or some of them."""
        if isinstance(at, slice):
            return tuple(self)[at]
        left = at if at >= 0 else at + len(self)
        for page in self.pages if left >= 0 else ():
            if left < len(page.rows):
                return page.rows[left]
            left -= len(page.rows)
        raise IndexError(at)

    def __eq__(self, other: object) -> bool:
        """Whether the same rows stand in the same order, in whatever pages."""
        if not isinstance(other, Rows):
            return NotImplemented
        if len(self) != len(other):
            return False
        mine, theirs = self.pages, other.pages
        if [len(page.rows) for page in mine] != [len(page.rows) for page in theirs]:
            return tuple(self) == tuple(other)
        return all(one is two or one.rows == two.rows for one, two in zip(mine, theirs, strict=True))

    def __hash__(self) -> int:
        """Return a hash of the rows."""
        return hash(tuple(self))

    def append(self: Rows[T], row: Row[T]) -> Rows[T]:
        """Return these rows and one more behind them."""
        last = self.pages[-1].rows if self.pages else ()
        if 0 < len(last) < PAGE:
            return Rows((*self.pages[:-1], Page((*last, row))))
        return Rows((*self.pages, Page((row,))))

    def replace(self: Rows[T], page: int, place: int, row: Row[T]) -> Rows[T]:
        """Return these rows with another one at a place of a page, both counted from 0."""
        held = self.pages[page].rows
        changed = Page((*held[:place], row, *held[place + 1 :]))
        return Rows((*self.pages[:page], changed, *self.pages[page + 1 :]))

    def change(self: Rows[T], change: Callable[[Page[T]], tuple[Row[T], ...]]) -> Rows[T]:
        """Return what becomes of these rows a page at a time; a page that gives back its own rows is shared."""
        pages: list[Page[T]] = []
        shrank = False
        for page in self.pages:
            rows = change(page)
            before, shrank = shrank, rows is not page.rows and rows != page.rows
            if rows and pages and (before or shrank) and len(pages[-1].rows) + len(rows) <= PAGE:
                # A page that shrank joins its neighbours, so that removing rows leaves no crowd of small pages.
                pages[-1] = Page(pages[-1].rows + rows)
                shrank = True
            elif not shrank:
                pages.append(page)
            elif rows:
                pages.append(Page(rows))
        return Rows(pages)

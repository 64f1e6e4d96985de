"""What may not be shown takes nobody's place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persona_mind.recall.room import readable


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 12))
def test_the_best_that_may_be_shown_are_returned_in_order(bad: list[bool], room: int) -> None:
    kept, unsafe = readable(lambda most: list(enumerate(bad))[:most], room, lambda item: item[1])
    good = [at for at, is_bad in enumerate(bad) if not is_bad][:room]
    places = [at for at, _ in kept]
    assert [at for at in places if not bad[at]] == good
    assert places == sorted(places)
    assert len(kept) == min(room, len(bad))
    end = good[-1] if len(good) == room else len(bad)
    assert unsafe == sum(bad[:end])


@given(st.integers(0, 40), st.integers(1, 12))
def test_one_search_is_enough_where_everything_may_be_shown(number: int, room: int) -> None:
    asked: list[int] = []

    def search(most: int) -> range:
        asked.append(most)
        return range(min(most, number))

    assert readable(search, room, lambda _: False) == (list(range(min(room, number))), 0)
    assert asked == [room]

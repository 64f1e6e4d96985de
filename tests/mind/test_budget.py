from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from persona_mind.kernel.budget import Allowance, tokens

texts = st.text(max_size=200)


@given(st.lists(texts), st.integers(0, 100))
def test_what_is_taken_never_passes_the_limit(parts: list[str], limit: int) -> None:
    allowance = Allowance(limit)
    taken = [part for part in parts if allowance.take(part)]
    assert tokens("\n".join(taken)) <= limit


@given(st.lists(texts), st.integers(0, 100), st.integers(0, 100))
def test_a_part_leaves_what_was_set_aside(parts: list[str], limit: int, aside: int) -> None:
    whole = Allowance(limit)
    inner = whole.part(aside)
    for part in parts:
        inner.take(part)
    assert whole.left >= min(aside, limit) * 3


def test_a_token_is_three_bytes_rounded_up() -> None:
    assert [tokens(text) for text in ("", "a", "abc", "abcd", "é", "日本")] == [0, 1, 1, 2, 1, 2]

"""A plain no is one set of words, wherever a switch is read."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import persona_hooks
from persona_hooks.switches import is_no, is_set

ROOT = Path(__file__).parents[2]
NO = ("off", "false", "0", "no")


@pytest.mark.parametrize("value", [*NO, *map(str.upper, NO), " Off ", "no\n"])
def test_a_plain_no_is_a_no_and_sets_nothing(value: str) -> None:
    assert is_no(value)
    assert not is_set(value)


@pytest.mark.parametrize("value", [None, "", " "])
def test_nothing_is_neither(value: str | None) -> None:
    assert not is_no(value)
    assert not is_set(value)


@pytest.mark.parametrize("value", ["1", "on", "yes", "disabled", "nope", "00"])
def test_whatever_else_sets_a_switch(value: str) -> None:
    assert is_set(value)
    assert not is_no(value)


def test_the_words_are_spelt_once() -> None:
    homes = [Path(persona_hooks.__file__).parent]
    homes += [ROOT / name for name in ("persona_companion", "persona_mind", "persona_host", "persona_store")]
    found = [
        f"{path.stem}:{node.lineno}"
        for home in homes
        for path in home.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Set | ast.Tuple | ast.List)
        and {"off", "0"} <= {item.value for item in node.elts if isinstance(item, ast.Constant)}
    ]
    assert [place.partition(":")[0] for place in found] == ["switches"]

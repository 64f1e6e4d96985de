from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from persona_companion.yamltext import YamlError, load


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("- a\n", 1),
        ("a: 1\nb: 2\na: 3\n", 3),
        ("x:\n  k: 1\n  k: 2\n", 3),
        ("a: [1\n", 2),
        ("a: 1\n---\nb: 2\n", 2),
        ("a: 1\n\tb: 2\n", 2),
        ("%YAML 1.1\n---\na: no\n", 1),
        ("# note\n%YAML 1.1\n---\na: no\n", 1),
        ("a: &x [1]\nb: *x\n", 1),
        ("a: 1\nb: *x\n", 2),
        ("a: 1\nb: !!python/object:os.system x\n", 2),
        ("a: !!binary eA==\n", 1),
        ("a: !!map [1]\n", 1),
        ("a: !!int x\n", 1),
        ("a: 1\n<<: {b: 1}\n", 2),
        ("? [a]\n: b\n", 1),
        ("a: 1\nb: .nan\n", 2),
        ("a: 1e999\n", 1),
        ("a: 1\nb: " + "9" * 5000 + "\n", 2),
        ("a: b\x07\n", 1),
        ("a: " + "[" * 60_000, 1),
        ("- " * 60_000, 1),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(YamlError) as caught:
        load(text)
    assert caught.value.line == line


def test_words_of_yaml_1_1_stay_words() -> None:
    found = load("a: yes\nb: no\nc: on\nd: 2026-03-01\ne: true\nf: ~\ng: 0o17\n1: x\n")
    assert found.values == {
        "a": "yes", "b": "no", "c": "on", "d": "2026-03-01", "e": True, "f": None, "g": 15, "1": "x",
    }  # fmt: skip


def test_every_value_knows_its_line() -> None:
    found = load("a: 1\nb:\n  - x\n  - c: 2\n")
    assert found.line(("b", 1, "c")) == 4
    assert found.line(("b", 0)) == 3
    assert found.line(("b", 7, "nowhere")) == 2
    assert found.line(("nowhere",)) == 1


def test_an_alias_bomb_costs_nothing() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    with pytest.raises(YamlError, match="aliases"):
        load(bomb)


def test_no_message_repeats_a_value() -> None:
    for text in ("a: [hunter2secret\n", "hunter2secret: 1\nhunter2secret: 2\n", "a: !hunter2secret x\n"):
        with pytest.raises(YamlError) as caught:
            load(text)
        assert "hunter2secret" not in caught.value.message


@given(st.text(max_size=200) | st.text(alphabet="ab:-[]{}&*!|>'\"#%@,? \n\t~<=._0x", max_size=80))
def test_any_text_is_a_mapping_or_a_yaml_error(text: str) -> None:
    try:
        found = load(text)
    except YamlError:
        return
    json.dumps(found.values, allow_nan=False)


_TEXTS = st.text(st.characters(min_codepoint=32, max_codepoint=0x24F, exclude_characters="\x7f"), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**12), 10**12) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(_TEXTS, _VALUES, max_size=4))
def test_json_reads_as_itself(values: dict[str, object]) -> None:
    assert load(json.dumps(values, indent=1)).values == values

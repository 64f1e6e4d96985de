"""Every behaviour of the original's suite is held by a test, or the design says why it is left."""

from __future__ import annotations

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
DESIGN = TESTS.parent / "docs" / "design.md"
HELD: dict[str, dict[str, list[str]]] = tomllib.loads((TESTS / "cases" / "held.toml").read_text("utf-8"))

CASES = {
    "store": "1 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28 29 31 32 34 35 37 38",
    "ids": "1 2 4 5 7",
    "memory": "1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23",
    "backlog": "1 2 4 5 7 8 10 11 13 14",
    "scanner": "1 2 4 5 7 8 10 11 13 14 16",
    "capture": "1 2 4 5 7 8 10 11 13 14",
    "inject": "1 2 4 5 7 8 10 11 13 14 16",
    "service": "1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28 29 31 32 34 35 37 38 40",
    "scope": "1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28",
    "migrate": "1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28 29 31 32 34 35",
    "blocked": "1 2 4 5",
    "presentation": "1 2 4 5",
    "index": "1 2 4 5 7 8 10 11 13 14 16 17 19 20 22 23 25 26 28 29 31 32 34 35 37 38 40 41 43 44 46 47 49 50 52 53 55"
    " 56 58 59 61",
    "runtime": "1 2 4 5",
}
"""The numbers of the cases that a machine without Windows can run, by group."""


def every() -> set[str]:
    return {f"{group} {number}" for group, numbers in CASES.items() for number in numbers.split()}


def held() -> dict[str, list[str]]:
    return {f"{group} {number}": tests for group, cases in HELD.items() for number, tests in cases.items()}


def left() -> dict[str, str]:
    """The cases of the design's appendix, each with its reason."""
    section = DESIGN.read_text("utf-8").partition("\n## Cases of the original that are left\n")[2]
    rows = re.findall(r"^\| ([a-z]+ \d+(?:, \d+)*) \| (.+) \|$", section.partition("\n## ")[0], re.MULTILINE)
    return {f"{cases.split()[0]} {number}": why for cases, why in rows for number in re.findall(r"\d+", cases)}


@cache
def names_in(file: str) -> frozenset[str]:
    tree = ast.parse((TESTS / file).read_text("utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_every_case_is_held_by_a_test_or_left_with_a_reason() -> None:
    assert every() == held().keys() | left().keys()


def test_no_case_is_both_held_and_left() -> None:
    assert not held().keys() & left().keys()


def test_every_test_that_holds_a_case_exists() -> None:
    named = [test for tests in held().values() for test in tests]
    assert all(held().values())
    missing = [test for test in named if test.partition("::")[2] not in names_in(test.partition("::")[0])]
    assert missing == []


def test_every_reason_quotes_the_design() -> None:
    whole = " ".join(DESIGN.read_text("utf-8").partition("\n## Cases of the original that are left\n")[0].split())
    for case, why in left().items():
        quoted = re.search(r"“(.+?)”", why)
        assert quoted is not None, case
        assert " ".join(quoted.group(1).split()) in whole, case

"""The tree of errors: one branch for each thing a caller can do."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from pathlib import Path

import pytest

from persona_hooks import errors
from persona_hooks.errors import UNCHANGED, PersonaError
from persona_hooks.speech import phrase

ROOT = Path(__file__).parents[2]

KINDS = sorted(
    (kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PersonaError)),
    key=lambda kind: kind.__name__,
)
BRANCHES = [kind for kind in KINDS if kind is not PersonaError]


@pytest.mark.parametrize("kind", BRANCHES, ids=lambda kind: kind.__name__)
def test_an_error_is_also_what_the_standard_library_calls_it(kind: type[PersonaError]) -> None:
    drawn = re.search(rf"── {kind.__name__} \((\w+)\)", errors.__doc__ or "")
    assert drawn, "the tree in the module's docstring leaves it out"
    assert drawn[1] in {parent.__name__ for parent in kind.__mro__ if parent.__module__ == "builtins"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_error_carries_data_and_survives_a_process_boundary(kind: type[PersonaError]) -> None:
    error = kind("One sentence.", reason="why", changed="unknown", path="/x", limit=3)
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert type(twin) is kind
        assert str(twin) == "One sentence."
        assert (twin.reason, twin.changed, twin.details) == ("why", "unknown", {"path": "/x", "limit": 3})


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_what_an_error_says_of_changes_is_what_it_knows_of_them(kind: type[PersonaError]) -> None:
    inner = phrase("{path} is held; {unchanged}", path="/x", unchanged=UNCHANGED)
    error = kind(phrase("It stopped: {what}. Look.", what=inner), changed="no")
    assert str(error) == error.message == "It stopped: /x is held; nothing was changed. Look."

    error.changed = "unknown"

    for twin in (error, pickle.loads(pickle.dumps(error)), copy.copy(error)):  # noqa: S301 - our own bytes
        assert str(twin) == twin.message == "It stopped: /x is held; earlier steps may have changed something. Look."
    outer = kind(phrase("Nested: {why}", why=error.message))
    assert "nothing was changed" not in str(outer)


def test_no_error_says_by_itself_that_nothing_was_changed() -> None:
    """Written out, the words would stay when somebody learns that earlier steps did change something."""
    packages = [Path(errors.__file__).parent, *(ROOT / name for name in ("persona_store", "persona_mind"))]
    calls = [
        (path, node)
        for package in (*packages, ROOT / "persona_companion", ROOT / "persona_host")
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("Error")
    ]
    assert len(calls) > 100
    assert [
        f"{path.name}:{part.lineno}"
        for path, call in calls
        for part in ast.walk(call)
        if isinstance(part, ast.Constant) and "nothing was changed" in str(part.value).lower()
    ] == []


def test_reasons_are_distinct_and_only_uncertainty_leaves_it_open() -> None:
    reasons = [kind.default_reason for kind in KINDS]
    assert len(set(reasons)) == len(reasons)
    assert {kind.__name__ for kind in KINDS if kind.default_changed != "no"} == {"UncertainError"}

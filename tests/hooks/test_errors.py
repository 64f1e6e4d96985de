"""The tree of errors: one branch for each thing a caller can do."""

from __future__ import annotations

import copy
import pickle
import re

import pytest

from persona_hooks import errors
from persona_hooks.errors import PersonaError

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


def test_reasons_are_distinct_and_only_uncertainty_leaves_it_open() -> None:
    reasons = [kind.default_reason for kind in KINDS]
    assert len(set(reasons)) == len(reasons)
    assert {kind.__name__ for kind in KINDS if kind.default_changed != "no"} == {"UncertainError"}

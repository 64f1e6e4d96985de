"""What a value breaks, in words: the rule and its limit, never the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS: Final = {
    "missing": "is missing",
    "string_too_long": "has more than {max_length} characters",
    "string_too_short": "has fewer than {min_length} characters",
    "too_long": "has more than {max_length} entries",
    "too_short": "has fewer than {min_length} entries",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "finite_number": "must be a finite number",
    "string_pattern_mismatch": "is not of the form that is asked for",
    "extra_forbidden": "is not known",
    "string_unicode": "holds half a character (a lone surrogate)",
}
_TYPES: Final = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "string": "a text",
    "list": "a list",
    "tuple": "a list",
    "set": "a list",
    "frozen_set": "a list",
    "dict": "an object",
    "model": "an object",
}
_OURS: Final = "value_error"


def broken(problem: ErrorDetails) -> str:
    """Return what follows a field's name in a sentence: ``" is missing"``, ``" must be at most 50"``.

    Args:
        problem: One of ``ValidationError.errors(include_input=False, include_url=False)``.
    """
    kind, context = problem["type"], problem.get("ctx", {})
    if kind.endswith("_too_short") and context.get("min_length") == 1:
        return " is empty"
    if kind in _KINDS:
        return f" {_KINDS[kind].format(**{name: _plain(value) for name, value in context.items()})}"
    meant = _TYPES.get(kind.rpartition("_")[0]) or _TYPES.get(kind.partition("_")[0])
    if meant is not None:
        return f" must be {meant}"
    # A check of our own says it in words; pydantic puts its name before them.
    return f": {problem['msg'].removeprefix('Value error, ')}"


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever pydantic puts into a problem's context
    if isinstance(value, float):
        return f"{value:g}"
    return value.replace("'", "") if isinstance(value, str) else value

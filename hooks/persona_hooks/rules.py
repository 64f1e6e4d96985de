"""What a value breaks, in words: the rule and its limit, never the value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from persona_hooks.speech import Phrase, marked, phrase

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_KINDS: Final = {
    "missing": marked("is missing"),
    "string_too_long": marked("has more than {max_length} characters"),
    "string_too_short": marked("has fewer than {min_length} characters"),
    "too_long": marked("has more than {max_length} entries"),
    "too_short": marked("has fewer than {min_length} entries"),
    "literal_error": marked("must be {expected}"),
    "enum": marked("must be {expected}"),
    "greater_than": marked("must be more than {gt}"),
    "greater_than_equal": marked("must be at least {ge}"),
    "less_than": marked("must be less than {lt}"),
    "less_than_equal": marked("must be at most {le}"),
    "finite_number": marked("must be a finite number"),
    "string_pattern_mismatch": marked("is not of the form that is asked for"),
    "extra_forbidden": marked("is not known"),
    "string_unicode": marked("holds half a character (a lone surrogate)"),
}
_TYPES: Final = {
    "int": marked("must be a whole number"),
    "float": marked("must be a number"),
    "bool": marked("must be true or false"),
    "string": marked("must be a text"),
    "list": marked("must be a list"),
    "tuple": marked("must be a list"),
    "set": marked("must be a list"),
    "frozen_set": marked("must be a list"),
    "dict": marked("must be an object"),
    "model": marked("must be an object"),
}


def broken(problem: ErrorDetails) -> str:
    """Return what a value breaks, without its field's name: ``"is missing"``, ``"must be at most 50"``.

    Args:
        problem: One of ``ValidationError.errors(include_input=False, include_url=False)``.
    """
    kind, context = problem["type"], problem.get("ctx", {})
    if kind.endswith("_too_short") and context.get("min_length") == 1:
        return phrase("is empty")
    known = _KINDS.get(kind) or _TYPES.get(kind.rpartition("_")[0]) or _TYPES.get(kind.partition("_")[0])
    if known is not None:
        return phrase(known, **{name: _plain(value) for name, value in context.items()})
    # A check of our own says it in words; pydantic puts its name before them.
    ours = context.get("error")
    if isinstance(ours, ValueError) and ours.args and isinstance(ours.args[0], str):
        return ours.args[0]
    return problem["msg"].removeprefix("Value error, ")


def broken_at(place: str, problem: ErrorDetails) -> str:
    """Return the whole sentence about the field at ``place``, without a full stop: ``"max must be at most 50"``."""
    what = broken(problem)
    if isinstance(what, Phrase) and problem["type"] != "value_error":
        return phrase("{field} {broken}", field=place, broken=what)
    return phrase("{field}: {broken}", field=place, broken=what)


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever pydantic puts into a problem's context
    if isinstance(value, float):
        return f"{value:g}"
    if not isinstance(value, str):
        return value
    some, either, last = value.replace("'", "").rpartition(" or ")
    return phrase("{some} or {last}", some=some, last=last) if either else last

"""What a value breaks, in words."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, field_validator

from persona_hooks.cards import Card
from persona_hooks.errors import InvalidError
from persona_hooks.verbs import EVERYONE, Call, Outcome, Params, Verb, validate

SECRET = "hunter2hunter2"  # noqa: S105 - it must be found in no message


class Everything(Params):
    """Take one of each."""

    name: Annotated[str, Field(min_length=1, max_length=5)]
    code: Annotated[str, Field(min_length=3)] = "abc"
    number: Annotated[int, Field(ge=1, le=9)] = 1
    ratio: Annotated[float, Field(gt=0, lt=1)] = 0.5
    flag: bool = False
    word: Literal["one", "two"] = "one"
    many: Annotated[tuple[str, ...], Field(max_length=2)] = ()
    form: Annotated[str, Field(pattern="^a+$")] = "a"
    own: str = ""

    @field_validator("own")
    @classmethod
    def _own(cls, value: str) -> str:
        if value:
            raise ValueError("nothing may stand here")
        return value


def nothing(_call: Call, _params: Everything) -> Outcome:
    return Outcome()


VERB = Verb("sample.take", Everything, "read", nothing, lambda _: Card("Taken."), EVERYONE, "sample take")


def told(**arguments: Any) -> InvalidError:  # noqa: ANN401 - JSON values
    with pytest.raises(InvalidError) as refusal:
        validate(VERB, arguments)
    return refusal.value


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        ({}, "name is missing"),
        ({"name": ""}, "name is empty"),
        ({"name": SECRET}, "name has more than 5 characters"),
        ({"name": 5}, "name must be a text"),
        ({"name": "x", "code": "a"}, "code has fewer than 3 characters"),
        ({"name": "x", "number": 0}, "number must be at least 1"),
        ({"name": "x", "number": 10}, "number must be at most 9"),
        ({"name": "x", "number": SECRET}, "number must be a whole number"),
        ({"name": "x", "number": 1.5}, "number must be a whole number"),
        ({"name": "x", "ratio": 0}, "ratio must be more than 0"),
        ({"name": "x", "ratio": 1}, "ratio must be less than 1"),
        ({"name": "x", "ratio": SECRET}, "ratio must be a number"),
        ({"name": "x", "flag": SECRET}, "flag must be true or false"),
        ({"name": "x", "word": SECRET}, "word must be one or two"),
        ({"name": "x", "many": SECRET}, "many must be a list"),
        ({"name": "x", "many": ["a", "b", "c"]}, "many has more than 2 entries"),
        ({"name": "x", "many": [1]}, "many.0 must be a text"),
        ({"name": "x", "form": SECRET}, "form is not of the form that is asked for"),
        ({"name": "x", "own": SECRET}, "own: nothing may stand here"),
    ],
)
def test_every_rule_is_told_in_words_with_its_limit(arguments: dict[str, Any], rule: str) -> None:
    error = told(**arguments)
    assert (
        re.sub(r"\.0+\b", "", error.message.replace("many.0", "many#"))
        == f"sample.take: {rule.replace('many.0', 'many#')}."
    )
    assert SECRET not in error.message


def test_a_typed_command_is_named_as_it_is_typed() -> None:
    with pytest.raises(InvalidError, match=r"^/sample take: name is missing\.$"):
        validate(VERB, {}, lax=True)


def test_a_number_that_was_typed_must_be_one() -> None:
    with pytest.raises(InvalidError, match=r"^/sample take: number must be a whole number\.$"):
        validate(VERB, {"name": "x", "number": "many"}, lax=True)

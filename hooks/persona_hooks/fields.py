"""What a command line needs to know of a parameter: where it stands, whether it is a flag, a list or a choice."""

from __future__ import annotations

from enum import Enum
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from persona_hooks.naming import to_camel
from persona_hooks.verbs import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from persona_hooks.verbs import AnyVerb

_MANY = frozenset({list, tuple, set, frozenset})


class Parameter:
    """One parameter of a verb, as a person types it.

    Attributes:
        name: Its name on the wire, camelCase.
        option: ``--kebab-case``.
        place: Where it stands among the words; None for one that is an option only.
        required: Whether it must be given.
        flag: Whether it is a switch, which takes no value.
        many: Whether it takes several values.
        choices: The words that it may be, where these are few and fixed.
        description: What it is, in a sentence; empty where its name says it.
    """

    def __init__(self, name: str, field: FieldInfo) -> None:
        self.name = field.alias or to_camel(name)
        self.option = "--" + "".join(f"-{char.lower()}" if char.isupper() else char for char in self.name)
        self.required = field.is_required()
        self.description = field.description or ""
        marks = [*field.metadata, *_marks(field.annotation)]
        self.place: Place | None = next((mark for mark in marks if isinstance(mark, Place)), None)
        types = list(_types(field.annotation))
        items = [item for kind in types if get_origin(kind) in _MANY for item in get_args(kind)]
        self.flag = types == [bool]
        self.many = any(get_origin(kind) in _MANY or kind in _MANY for kind in types)
        kinds = [*types, *(kind for item in items for kind in _types(item))]
        self.choices = tuple(dict.fromkeys(word for kind in kinds for word in _words(kind)))

    @property
    def form(self) -> str:
        """The parameter on a usage line."""
        word = "|".join(self.choices) or "".join(f"_{c}" if c.isupper() else c.upper() for c in self.name)
        if self.place is not None:
            text = word + ("…" if self.place is Place.REST else "")
        elif self.flag:
            text = self.option
        else:
            text = f"{self.option} {word}" + ("[,…]" if self.many else "")
        return text if self.required else f"[{text}]"


def parameters_of(verb: AnyVerb) -> list[Parameter]:
    """Return the verb's parameters in the order of their declaration."""
    return [Parameter(name, field) for name, field in verb.params.model_fields.items()]


def _types(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - annotations have no common type
    """Give an annotation's alternatives, out of ``Annotated`` and without None."""
    if get_origin(annotation) is Annotated:
        yield from _types(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _types(part)
    elif annotation is not type(None):
        yield annotation


def _marks(annotation: Any) -> Iterator[Any]:  # noqa: ANN401 - annotations have no common type
    """Give what ``Annotated`` says of an annotation's alternatives, outside of containers."""
    if get_origin(annotation) is Annotated:
        yield from get_args(annotation)[1:]
        yield from _marks(get_args(annotation)[0])
    elif get_origin(annotation) in {Union, UnionType}:
        for part in get_args(annotation):
            yield from _marks(part)


def _words(kind: Any) -> list[str]:  # noqa: ANN401 - annotations have no common type
    if get_origin(kind) is Literal:
        return [str(value) for value in get_args(kind)]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [str(member.value) for member in kind]
    return []

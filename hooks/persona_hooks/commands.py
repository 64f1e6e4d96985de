"""Slash commands and the command line: the registry's words, parsed.

``/mind recall staging port --max 3`` names the verb by its longest matching command, takes the words that follow as
its positional parameters (``Place.WORD``, ``Place.REST``) and ``--kebab-case`` options as the others. Options may
stand anywhere; ``--`` ends them.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.verbs import Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_hooks.verbs import AnyVerb, Registry


@dataclass(frozen=True, slots=True)
class Command:
    """A parsed command: which verb, with which arguments (still to be validated, in lax mode)."""

    verb: AnyVerb
    arguments: dict[str, Any]


def parse_line(registry: Registry, line: str) -> Command:
    """Return the command in ``line``, which may begin with a slash.

    Raises:
        NotFoundError: No command begins like this.
        InvalidError: A quotation is not closed, or an option is unknown or lacks its value.
    """
    text = line.strip().removeprefix("/")
    try:
        # An apostrophe in a sentence is no quotation: only double quotes group words.
        lexer = shlex.shlex(text, posix=True, punctuation_chars=False)
        lexer.whitespace_split, lexer.quotes, lexer.commenters, lexer.escape = True, '"', "", ""
        words = list(lexer)
    except ValueError:
        raise InvalidError('The line ends inside a quotation: close the ".', field="line") from None
    return parse_words(registry, words)


def parse_words(registry: Registry, words: Sequence[str]) -> Command:
    """Return the command that ``words`` spell; see ``parse_line``."""
    verb = _find(registry, words)
    rest = list(words[len(verb.command.split()) :])
    return Command(verb, _arguments(verb, rest))


def usage(verb: AnyVerb) -> str:
    """Return the command's form on one line: ``/mind recall QUERY [--max N]``."""
    parts = [f"/{verb.command}"]
    for name, field in verb.params.model_fields.items():
        word = (field.alias or name).upper()
        place = _place(field)
        if place is None and _is_flag(field):
            text = f"[--{_kebab(name)}]"
        elif place is None:
            text = f"--{_kebab(name)} {_choices(field) or word}"
            text = text if field.is_required() else f"[{text}]"
        else:
            dots = "…" if place is Place.REST else ""
            text = f"{_choices(field) or word}{dots}" if field.is_required() else f"[{_choices(field) or word}{dots}]"
        parts.append(text)
    return " ".join(parts)


def complete(registry: Registry, line: str) -> list[str]:
    """Return what may follow in ``line``: whole commands, options and choices that extend its last word."""
    text = line.removeprefix("/")
    commands = sorted(verb.command for verb in registry if verb.command)
    whole = [f"/{command}" for command in commands if command.startswith(text) and command != text]
    if whole:
        return whole
    words = text.split(" ")
    try:
        verb = _find(registry, words)
    except NotFoundError:
        return []
    last = words[-1]
    options = [f"--{_kebab(name)}" for name, field in verb.params.model_fields.items() if _place(field) is None]
    choices = [item for field in verb.params.model_fields.values() if _place(field) for item in _literals(field)]
    return [item for item in (*choices, *options) if item.startswith(last) and item != last]


def _find(registry: Registry, words: Sequence[str]) -> AnyVerb:
    best: AnyVerb | None = None
    for verb in registry:
        parts = verb.command.split()
        if parts and list(words[: len(parts)]) == parts and (best is None or len(parts) > len(best.command.split())):
            best = verb
    if best is None:
        roots = sorted({verb.command.split()[0] for verb in registry if verb.command})
        raise NotFoundError(
            f"There is no such command. Known here: {', '.join('/' + root for root in roots) or 'none'}.",
            reason="unknown_command",
        )
    takes_words = any(_place(field) for field in best.params.model_fields.values())
    extra = [word for word in words[len(best.command.split()) :] if not word.startswith("--")]
    if extra and not takes_words:
        head = best.command.split()[0]
        subcommands = sorted(v.command for v in registry if v.command.split()[:1] == [head])
        raise NotFoundError(
            f"/{best.command} takes no words. Known here: {', '.join('/' + c for c in subcommands)}.",
            reason="unknown_command",
        )
    return best


def _arguments(verb: AnyVerb, words: list[str]) -> dict[str, Any]:
    options = {f"--{_kebab(name)}": (field.alias or name, field) for name, field in verb.params.model_fields.items()}
    places = [(field.alias or name, _place(field)) for name, field in verb.params.model_fields.items() if _place(field)]
    found: dict[str, Any] = {}
    positional: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word == "--":
            positional += queue
            break
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            positional.append(word)
        elif name not in options:
            known = ", ".join(option for option, (_, field) in options.items() if _place(field) is None) or "none"
            raise InvalidError(f"/{verb.command}: no such option. It knows: {known}.", field="option")
        else:
            alias, field = options[name]
            _take(verb, alias, field, value if equals else None, queue, found)
    for alias, place in places:
        if positional and alias not in found:
            found[alias] = " ".join(positional) if place is Place.REST else positional.pop(0)
            if place is Place.REST:
                positional = []
    if positional:
        raise InvalidError(f"/{verb.command}: too many words. Form: {usage(verb)}", field="words")
    return found


def _take(
    verb: AnyVerb, alias: str, field: FieldInfo, value: str | None, queue: list[str], found: dict[str, Any]
) -> None:
    if _is_flag(field):
        found[alias] = True if value is None else value
        return
    if value is None:
        if not queue:
            raise InvalidError(f"/{verb.command}: --{_kebab(alias)} needs a value.", field=alias)
        value = queue.pop(0)
    if _is_many(field):
        found.setdefault(alias, []).extend(part for part in value.split(",") if part)
    else:
        found[alias] = value


def _kebab(name: str) -> str:
    return "".join(f"-{char.lower()}" if char.isupper() else char for char in name).replace("_", "-")


def _place(field: FieldInfo) -> Place | None:
    return next((item for item in field.metadata if isinstance(item, Place)), None)


def _plain_types(annotation: object) -> list[object]:
    """Return an annotation's alternatives, without None and outside of Annotated."""
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal or not arguments:
        return [annotation]
    if get_origin(annotation) in {list, tuple, frozenset, set}:
        return [annotation]
    return [
        item
        for part in arguments
        if part is not type(None)
        for item in _plain_types(part)
        if not isinstance(part, FieldInfo)
    ]


def _is_flag(field: FieldInfo) -> bool:
    return _plain_types(field.annotation) == [bool]


def _is_many(field: FieldInfo) -> bool:
    return any(get_origin(item) in {list, tuple, frozenset, set} for item in _plain_types(field.annotation))


def _literals(field: FieldInfo) -> list[str]:
    return [
        str(value) for item in _plain_types(field.annotation) if get_origin(item) is Literal for value in get_args(item)
    ]


def _choices(field: FieldInfo) -> str:
    return "|".join(_literals(field))

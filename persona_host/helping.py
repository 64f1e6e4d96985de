"""Help, from the registry: what there is, and one command's form, for a conversation and for a shell."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from persona_hooks.cards import Card
from persona_hooks.commands import following, usage
from persona_hooks.fields import parameters_of
from persona_hooks.speech import literal, say, spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from persona_hooks.verbs import AnyVerb, Registry

FIRST = "mind"
_SLASH = re.compile(r"(?<![\w/.])/mind(?![\w/-])")
# What a person chooses in a conversation is an option of each command in a shell.
_PERSONA = re.compile(r"(?<![\w/.])/persona (?:use|(?=none\b))(?: )?")
_DOCTOR = re.compile(r"(?<![\w/.])/persona (?=doctor\b)")


def groups(registry: Registry) -> list[str]:
    """Return the first words of all commands, ``mind`` first."""
    return sorted(following(_commands(registry), ()), key=lambda word: (word != FIRST, word))


def overview(registry: Registry) -> list[str]:
    """Return two lines a group: what its first word alone does, and what may follow it."""
    lines = []
    for word in groups(registry):
        own = [verb for verb in registry.shown_to("person") if verb.command == word]
        below = following(_commands(registry), (word,))
        lines.append(row(f"/{word}", _own(own[0].summary) if own else ""))
        lines += [f"  /{word} …  {', '.join(below)}"] if below else []
    return lines


def about(registry: Registry, words: Sequence[str]) -> Card | None:
    """Return the help of the command that ``words`` name, or of all that begin like it; None where none does."""
    head = list(words)
    verbs = [verb for verb in registry.shown_to("person") if verb.command.split()[: len(head)] == head]
    if not verbs:
        return None
    own = [verb for verb in verbs if verb.command.split() == head]
    if own == verbs:
        return _one(verbs[0])
    lines = [
        row(spelled(f"/{verb.command}"), _own(verb.summary)) for verb in sorted(verbs, key=lambda verb: verb.command)
    ]
    title = say("Commands that begin with {words}:", words=spelled(f"/{' '.join(head)}"))
    return Card(title, tuple(lines), hint=say("`/help COMMAND` tells its form."))


def row(command: str, summary: str) -> str:
    """Return one line of a list of commands."""
    return f"{command:<24}  {summary}".rstrip()


def in_shell(card: Card, *, everywhere: bool = False) -> Card:
    """Return a card with ``persona mind …`` where it says ``/mind …``.

    The body is left as it is, since it may quote a memory, unless ``everywhere`` is given.
    """
    detail = tuple(map(shell_text, card.detail))
    body = tuple(map(shell_text, card.body)) if everywhere else card.body
    return replace(card, title=shell_text(card.title), body=body, detail=detail, hint=shell_text(card.hint))


def shell_text(text: str) -> str:
    """Return a text of ours with ``persona mind …`` where it says ``/mind …``, ``--persona`` for ``/persona use``."""
    shell = _DOCTOR.sub("persona ", _PERSONA.sub("--persona ", _SLASH.sub("persona mind", text)))
    return re.sub(r"`/help COMMAND`", "`persona mind COMMAND --help`", shell)


def _one(verb: AnyVerb) -> Card:
    parameters = [(item.option if item.place is None else item.form.strip("[]"), item) for item in parameters_of(verb)]
    lines = [f"  {name:<24}{_own(item.description)}".rstrip() for name, item in parameters]
    return Card(spelled(usage(verb)), (_own(verb.summary), *lines))


def _own(text: str) -> str:
    """Return a verb's summary, or a parameter's description, worded; `make docs` collects them from the registry."""
    return say(literal(text)) if text else ""


def _commands(registry: Registry) -> list[str]:
    return [verb.command for verb in registry.shown_to("person")]

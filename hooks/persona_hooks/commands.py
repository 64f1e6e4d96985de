"""Slash commands and the command line: the registry's words, parsed.

``/mind recall staging port --max 3`` names the verb by its longest matching command, takes the words that follow as
its positional parameters (``Place.WORD``, ``Place.REST``) and ``--kebab-case`` options as the others. Options may
stand anywhere; ``--`` ends them.

What a person writes is kept as written: a rest of several words keeps its spacing, its quotation marks and its
apostrophes. Double quotes around a whole word (or around an option's value) group it and are taken off; text that
begins with ``--`` is given that way, or after ``--``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from persona_hooks.errors import InvalidError, NotFoundError
from persona_hooks.fields import Parameter, parameters_of
from persona_hooks.speech import phrase
from persona_hooks.verbs import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from persona_hooks.verbs import AnyVerb, Registry

# A quotation counts only where it makes up a whole word, so that 24" and "so-called" ones in a sentence stay.
_WORD = re.compile(r'(?P<option>--[^\s="]+=)?"(?P<quoted>[^"]*)"(?=\s|$)|(?P<plain>\S+)')
# What is said again of a mistyped line: the name of an option, and never what may be a part of the text.
_NAME = re.compile(r"--[a-z]+(-[a-z]+){0,3}", re.ASCII)
_LONGEST_NAME = 24


class Command(NamedTuple):
    """A parsed command: which verb, with which arguments (still to be validated, in lax mode)."""

    verb: AnyVerb
    arguments: dict[str, Any]


class _Word(NamedTuple):
    """A word and the stretch of the line that it was written in."""

    text: str
    line: str
    start: int
    end: int
    literal: bool = False

    @property
    def is_option(self) -> bool:
        return not self.literal and self.text.startswith("--")


def parse_line(registry: Registry, line: str) -> Command:
    """Return the command in ``line``, which may begin with a slash.

    Raises:
        NotFoundError: No command begins like this.
        InvalidError: An option is unknown or lacks its value, or there are too many words.
    """
    text = line.strip().removeprefix("/")
    return _parse(registry, [_word(match, text) for match in _WORD.finditer(text)])


def parse_words(registry: Registry, words: Sequence[str]) -> Command:
    """Return the command that a shell's ``words`` spell; see ``parse_line``."""
    line = " ".join(words)
    placed, start = [], 0
    for word in words:
        placed.append(_Word(word, line, start, start + len(word)))
        start += len(word) + 1
    return _parse(registry, placed)


def usage(verb: AnyVerb) -> str:
    """Return the command's form on one line: ``/mind recall QUERY… [--max MAX]``."""
    return " ".join([f"/{verb.command}", *(parameter.form for parameter in parameters_of(verb))])


def complete(registry: Registry, line: str) -> list[str]:
    """Return what may follow in ``line``: whole commands, or options and choices that extend its last word."""
    text = line.removeprefix("/")
    commands = sorted(verb.command for verb in registry if verb.command)
    whole = [f"/{command}" for command in commands if command.startswith(text) and command != text]
    if whole:
        return whole
    *words, last = text.split(" ")
    verb = registry.at(words)
    if verb is None:
        return []
    parameters = parameters_of(verb)
    valued = next((item for item in parameters if words[-1] == item.option and not item.flag), None)
    if valued is not None:
        offered = list(valued.choices)
    else:
        given = {word.partition("=")[0] for word in words}
        offered = [word for item in parameters if item.place for word in item.choices]
        offered += [item.option for item in parameters if item.place is None and item.option not in given]
    return [item for item in offered if item.startswith(last) and item != last]


def _word(match: re.Match[str], line: str) -> _Word:
    if match["plain"] is not None:
        return _Word(match["plain"], line, match.start(), match.end())
    option = match["option"] or ""
    return _Word(option + match["quoted"], line, match.start(), match.end(), literal=not option)


def _parse(registry: Registry, words: list[_Word]) -> Command:
    texts = [word.text for word in words]
    verb = registry.at(texts)
    if verb is None:
        raise _unknown(registry, texts)
    parameters = parameters_of(verb)
    rest = words[len(verb.command.split()) :]
    if rest and not rest[0].is_option and not any(parameter.place for parameter in parameters):
        raise _unknown(registry, texts)
    return Command(verb, _Arguments(verb, parameters).read(rest))


def _unknown(registry: Registry, texts: Sequence[str]) -> NotFoundError:
    """Return the refusal of a command that nobody knows: what is nearest to it, and what may follow its first words."""
    commands = [verb.command for verb in registry if verb.command]
    heads = (texts[:number] for number in range(len(texts), 0, -1))
    head = next((words for words in heads if following(commands, words)), None)
    known: str = phrase("none")
    if head:
        known = phrase("/{first} followed by {next}", first=" ".join(head), next=", ".join(following(commands, head)))
    elif commands:
        known = ", ".join(f"/{word}" for word in following(commands, ()))
    meant = nearest(commands, texts)
    title = phrase("There is no such command. Known here: {known}.", known=known)
    if meant:
        title = phrase(
            "There is no such command. Did you mean /{meant}? Known here: {known}.", meant=meant, known=known
        )
    return NotFoundError(title, reason="unknown_command")


def following(commands: Iterable[str], words: Sequence[str]) -> list[str]:
    """Return what may follow ``words`` in a command, one word each, sorted."""
    depth = len(words)
    parts = [command.split() for command in commands]
    return sorted({part[depth] for part in parts if len(part) > depth and part[:depth] == list(words)})


def nearest(commands: Sequence[str], typed: Sequence[str]) -> str | None:
    """Return the command that the first words of ``typed`` were probably meant to be, or None."""
    from difflib import get_close_matches  # noqa: PLC0415 - only a mistake needs it

    meant: list[str] = []
    for word in typed:
        found = get_close_matches(word, following(commands, meant), 1, 0.66)
        if not found:
            break
        meant += found
    if meant != list(typed[: len(meant)]) or (len(meant) > 1 and " ".join(meant) in commands):
        return " ".join(meant)
    # Its second word may have been taken for the whole.
    last = [command for command in commands if " " in command and command.split()[-1:] == list(typed[:1])]
    return min(last, key=len, default=None)


class _Arguments:
    """The words after a command, sorted into the verb's parameters."""

    def __init__(self, verb: AnyVerb, parameters: list[Parameter]) -> None:
        self._verb = verb
        self._parameters = parameters
        self._options = {parameter.option: parameter for parameter in parameters}
        self._found: dict[str, Any] = {}

    def read(self, words: list[_Word]) -> dict[str, Any]:
        positional: list[_Word] = []
        queue = words[::-1]
        while queue:
            word = queue.pop()
            if not word.is_option:
                positional.append(word)
            elif word.text == "--":
                positional += queue[::-1]
                break
            else:
                self._option(word, queue)
        self._place(positional)
        return self._found

    def _option(self, word: _Word, queue: list[_Word]) -> None:
        name, equals, value = word.text.partition("=")
        parameter = self._options.get(name)
        if parameter is None:
            known = ", ".join(item.option for item in self._parameters if item.place is None) or phrase("none")
            raise InvalidError(
                phrase(
                    "/{command}: {what}. It knows: {known}. Text that begins with -- goes in double quotes, "
                    'or after "--".',
                    command=self._verb.command,
                    what=_no_option(name),
                    known=known,
                ),
                reason="unknown_option",
                field="option",
            )
        if equals:
            self._set(parameter, value)
        elif parameter.flag:
            self._found[parameter.name] = True
        elif queue:
            self._set(parameter, queue.pop().text)
        else:
            raise InvalidError(
                phrase("/{command}: {name} needs a value.", command=self._verb.command, name=name), field=parameter.name
            )

    def _set(self, parameter: Parameter, value: str) -> None:
        if parameter.many:
            values = [part.strip() for part in value.split(",")]
            self._found.setdefault(parameter.name, []).extend(part for part in values if part)
        else:
            self._found[parameter.name] = value

    def _place(self, words: list[_Word]) -> None:
        for parameter in self._parameters:
            if parameter.place is None or parameter.name in self._found or not words:
                continue
            if parameter.place is Place.WORD:
                self._set(parameter, words[0].text)
                words = words[1:]
            else:
                for text in [word.text for word in words] if parameter.many else [_as_written(words)]:
                    self._set(parameter, text)
                words = []
        if words:
            raise InvalidError(
                phrase(
                    "/{command}: too many words. Form: {usage}", command=self._verb.command, usage=usage(self._verb)
                ),
                field="words",
            )


def _no_option(name: str) -> str:
    if len(name) <= _LONGEST_NAME and _NAME.fullmatch(name):
        return phrase("there is no option {name}", name=name)
    return phrase("no such option")


def _as_written(words: list[_Word]) -> str:
    """Return a rest as it stands in the line, without the options that stood inside it."""
    if len(words) == 1:
        return words[0].text
    pieces = [words[0].line[words[0].start : words[0].end]]
    for before, word in pairwise(words):
        between = word.line[before.end : word.start]
        pieces += [between if not between.strip() else " ", word.line[word.start : word.end]]
    return "".join(pieces)

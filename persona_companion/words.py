"""Words for what the companion's verbs return. Lines are made for 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from persona_hooks.cards import COMPACT_LINES, Card, Level, clip, one_line
from persona_hooks.speech import phrase, say, say_n, worded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from persona_companion.outcomes import Checked, Chosen, Listed, ListedPersona, Shown

COLUMNS: Final = 80


def listed(outcome: Listed) -> Card:
    """Return the card of ``/persona``: who speaks, then who else could."""
    rows = [_row(persona, _name_width(outcome.personas)) for persona in outcome.personas]
    problems = [line for problem in outcome.problems for line in _wrap(f"! {worded(problem.text)}")]
    blocked = outcome.state == "blocked"
    if blocked:
        title, lines = say("Memory is closed: nobody speaks here."), [*_wrap(worded(outcome.why)), *rows]
    else:
        who = outcome.active or phrase("No persona")
        title, lines = say("{who} speaks here ({why}).", who=who, why=outcome.why), rows
    hint = say("Choose with /persona use NAME.") if rows else ""
    if not rows and any(problem.fatal for problem in outcome.problems):
        lines += _wrap(say("No persona can be used here, for these reasons:"))
    elif not rows:
        lines += _wrap(
            say(
                "There are no personas yet. Put a Markdown file into {folder} that begins with the lines ---, "
                "name: NAME, persona: true and ---; below them stands what the persona is told. A folder with a "
                "brief.yml will do, too.",
                folder=outcome.folder,
            )
        )
    if outcome.untrusted:
        lines += _wrap(say("This project has personas of its own; they are offered once you trust it."))
    return _card(title, [*lines, *problems], "warning" if blocked or problems else "info", hint)


def chosen(outcome: Chosen) -> Card:
    """Return the card of ``/persona use`` and ``/persona none``."""
    who = outcome.active or phrase("No persona")
    title = say("{who} speaks here already.", who=who)
    if outcome.changed == "yes":
        title = say("{who} speaks here now.", who=who)
    if outcome.pinned:
        line = say("Later sessions begin as PI_PERSONA_DEFAULT says.")
    elif outcome.remembered:
        line = say("Later sessions begin the same way.")
    else:
        line = say("This holds for this session only: choices are not remembered (persona.persist).")
    return _card(title, _wrap(line), "success")


def shown(outcome: Shown) -> Card:
    """Return the card of ``/persona show``."""
    facts = [outcome.description] if outcome.description else []
    facts.append(f"{outcome.path}:{outcome.line}")
    asks = [say("role {name}", name=outcome.role)] if outcome.role else []
    asks += [say("model {name}", name=outcome.model)] if outcome.model else []
    if asks:
        facts.append(say("Asks for: {what}.", what=", ".join(asks)))
    if outcome.notebook:
        facts.append(say("It keeps a notebook; its objective is withheld while a brake may hold."))
    objective = [say("Objective: {text}", text=outcome.objective)] if outcome.objective else []
    problems = [f"! {worded(problem.text)}" for problem in outcome.problems]
    wrapped = [line for fact in (*facts, *objective, *problems) for line in _wrap(fact)]
    title = say("{name} (of this project)", name=outcome.name) if outcome.origin == "project" else outcome.name
    return _card(title, [*wrapped, outcome.prompt])


def checked(outcome: Checked) -> Card:
    """Return the card of ``/persona doctor``."""
    if not outcome.problems:
        number = say_n("{number} persona.", "{number} personas.", outcome.personas)
        return Card(say("Personas and settings are in order."), (number,), level="success")
    title = say_n(
        "{number} thing to correct in personas and settings.",
        "{number} things to correct in personas and settings.",
        len(outcome.problems),
    )
    return _card(title, [line for problem in outcome.problems for line in _wrap(worded(problem.text))], "warning")


def _card(title: str, lines: Iterable[str], level: Level = "info", hint: str = "") -> Card:
    kept = [line for line in lines if line]
    return Card(title, tuple(kept[:COMPACT_LINES]), tuple(kept[COMPACT_LINES:]), level, hint)


def _name_width(personas: Iterable[ListedPersona]) -> int:
    from wcwidth import wcswidth  # noqa: PLC0415 - tables; only a list of personas needs them

    return min(24, max((wcswidth(persona.name) for persona in personas), default=0))


def _row(persona: ListedPersona, width: int) -> str:
    from wcwidth import wcswidth  # noqa: PLC0415 - as above

    name = clip(persona.name, width)
    place = f"{say('project:')} " if persona.origin == "project" else ""
    mark = "*" if persona.active else " "
    return clip(
        f"{mark} {name}{' ' * (width - wcswidth(name))}  {place}{one_line(persona.description)}".rstrip(), COLUMNS
    )


def _wrap(text: str) -> list[str]:
    """Return ``text`` in lines of at most ``COLUMNS`` columns; a word that is longer, such as a path, stays whole."""
    from wcwidth import wcswidth  # noqa: PLC0415 - as above

    lines = [""]
    for word in one_line(text).split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and wcswidth(longer) > COLUMNS:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines

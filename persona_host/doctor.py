"""``persona doctor``: how the plugins fare, what a host lacks and what that costs, which models and paths are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from persona_hooks.cards import Card
from persona_hooks.errors import NotFoundError, PersonaError
from persona_hooks.speech import phrase, say, say_n, worded
from persona_hooks.verbs import Answer
from persona_host.adapters import checking
from persona_host.adapters.installing import Target
from persona_host.embedded.choice import HOW, facts
from persona_host.embedded.shelf import Shelf
from persona_host.helping import in_shell
from persona_host.hosts import HOSTS, lacking
from persona_host.oneshot import opened, printed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from persona_hooks.cards import Level
    from persona_hooks.messages import Setting
    from persona_hooks.verbs import AnyVerb
    from persona_host.embedded.models import HostModels
    from persona_host.place import Place
    from persona_host.runtime import Runtime

ROLES = ("default", "routing", "flash")
MALFORMED = "(malformed)"
"""How the companion marks the source of a setting that it could not read."""
COMMAND_LINE = "command-line"
_STATES = {"loaded": phrase("loaded"), "failed": phrase("failed"), "slow": phrase("slow")}
_PLACES = {
    "agent directory": phrase("agent directory"),
    "settings": phrase("settings"),
    "sessions": phrase("sessions"),
    "working directory": phrase("working directory"),
}
_MARKS = {"ok": "✓", "warning": "!", "error": "✗"}
SHOWN = frozenset({"agent directory", "settings", "sessions", "working directory"})
"""The paths that the card lists; the checks tell of the others."""


def doctor(place: Place, host: str, *, as_json: bool, plain: bool) -> int:
    """Print the report for ``host`` and return the exit status: 1 where something is at fault.

    That is a plugin that failed or is slow, memory that is refused, and a host that ours is installed into and that
    cannot run it; not memory that a person turned off, nor a host that ours is not installed into.

    Raises:
        NotFoundError: There is no host of that name.
    """
    if host not in HOSTS:
        raise NotFoundError(
            phrase("--host: known here are {listed}.", listed=", ".join(sorted(HOSTS))), reason="unknown_host"
        )
    with opened(place, english=as_json) as (runtime, models):
        answer = _answer(examine(runtime, models, place, host))
    return printed(answer, as_json=as_json, plain=plain)


def examine(runtime: Runtime, models: HostModels, place: Place, host: str) -> dict[str, Any]:
    """Return the report as JSON values; it holds no text of a memory."""
    target = Target(place.agent_dir, place.environ, lambda: runtime, home=place.home)
    return {
        "host": host,
        "owner": _owner(runtime),
        "disabled": place.disabled,
        "off": runtime.off(),
        "plugins": [state._asdict() for state in runtime.states()],
        "problems": [f"{plugin}: {what}" for plugin, what in runtime.problems],
        "lacking": lacking(host),
        "installation": [found._asdict() for found in checking.check(host, target)],
        "models": {role: facts(models.roles.choice(role)) for role in (*ROLES, *_unknown(models))},
        "unknownRoles": _unknown(models),
        "unreadable": _unreadable(runtime.settings()),
        "checks": _checks(runtime, host),
        "paths": {name: {"path": str(path), "exists": path.exists()} for name, path in _paths(place).items()},
    }


def _unreadable(settings: Mapping[str, Setting]) -> bool:
    """Return whether the settings as a whole cannot be read: then there is no section without a malformed one."""
    sections = {key.partition(".")[0] for key in settings if "." in key} - {"brief"}
    lost = {key.partition(".")[0] for key, one in settings.items() if one.source.endswith(MALFORMED)}
    return bool(sections) and sections <= lost


def _owner(runtime: Runtime) -> dict[str, Any]:
    try:
        owner = runtime.owner()
    except PersonaError as error:
        return {"ready": False, "reason": error.reason, "message": error.message}
    return {"ready": True, "persona": owner.persona, "provider": owner.provider, "leg": owner.leg}


def _checks(runtime: Runtime, host: str) -> list[dict[str, Any]]:
    """Return what the plugins' own doctors say: their verbs of that name."""
    doctors = [verb for verb in runtime.registry.shown_to("script") if verb.action == "doctor"]
    answers = [
        (verb, runtime.call(verb.name, {}, session=runtime.session, origin="user", audience="script"))
        for verb in doctors
    ]
    return [
        {
            "verb": verb.name,
            "ok": answer.ok,
            "level": answer.card.level,
            "text": _told(verb, answer, host),
            "refused": getattr(answer.outcome, "refused", "") if answer.ok else answer.why,
            "notable": list(getattr(answer.outcome, "notable", ())),
        }
        for verb, answer in answers
    ]


def _told(verb: AnyVerb, answer: Answer, host: str) -> str:
    """Return a doctor's words, of the host that was asked about, without what it lacks, which was told before them."""
    outcome = answer.outcome
    if outcome is None or "lacking" not in type(outcome).model_fields:
        return answer.anew().text()
    told = {} if host == COMMAND_LINE else {"host": host}
    return str(verb.words(outcome.model_copy(update={**told, "lacking": ()})).text())


def _unknown(models: HostModels) -> list[str]:
    return [role for role in models.roles.names() if role not in ROLES]


def _paths(place: Place) -> dict[str, Path]:
    return {
        "agent directory": place.agent_dir,
        "memory": place.agent_dir / "persona-mind",
        "companion": place.agent_dir / "persona",
        "settings": place.agent_dir / "persona" / "settings.json",
        "sessions": Shelf(place.agent_dir, place.cwd).folder,
        "working directory": place.cwd,
    }


def _answer(report: dict[str, Any]) -> Answer:
    title, level = _verdict(report)
    refused = worded(report["owner"].get("message", ""))
    checks = [check for check in report["checks"] if check["text"] != refused]
    lines = [*_owner_lines(report), *_plugin_lines(report), *_lacking_lines(report)]
    lines += [*_installation_lines(report), *_model_lines(report)]
    for check in checks:
        verb = check["verb"]
        here = report["host"] == COMMAND_LINE
        lines += [
            say("{verb}, run from the command line:", verb=verb) if here else f"{verb}:",
            *(f"  {line}" for line in check["text"].splitlines()),
        ]
    lines += [say("Paths:"), *(_path_line(name, entry) for name, entry in report["paths"].items() if name in SHOWN)]
    card = in_shell(Card(title, tuple(lines), level=level), everywhere=True)
    return Answer("doctor", ok=level != "error", changed="no", card=card, details=report)


def _verdict(report: dict[str, Any]) -> tuple[str, Level]:
    """Return what matters most, and how much: an error where something is at fault, a warning where it was chosen."""
    states: list[dict[str, Any]] = report["plugins"]
    bad = [state["name"] for state in states if state["state"] != "loaded"]
    broken = [found["name"] for found in report["installation"] if found["state"] == "error"]
    if bad:
        return say("Trouble with {plugins}.", plugins=", ".join(bad)), "error"
    if broken:
        what = ", ".join(broken)
        return say("{host} cannot use memory as it is installed: {what}.", host=report["host"], what=what), "error"
    if report["disabled"]:
        return say("Memory is off: PI_PERSONA_DISABLE is set."), "warning"
    if report["off"]:
        return worded(report["off"]), "warning" if report["owner"]["ready"] else "error"
    if refused := [check["refused"] for check in report["checks"] if check["refused"]]:
        return say("Memory is refused: {what}", what=refused[0]), "error"
    return _working(report)


def _working(report: dict[str, Any]) -> tuple[str, Level]:
    """Return what is to be said where nothing is at fault: a warning where something needs a look all the same."""
    if absent := [found for found in report["installation"] if found["absent"]]:
        return say("{host} is not set up yet: {what}.", host=report["host"], what=absent[0]["detail"]), "warning"
    if notable := [what for check in report["checks"] for what in check["notable"]]:
        return say("Memory works, but {what}.", what="; ".join(map(worded, notable))), "warning"
    if look := _to_look_at(report):
        return say("Memory works, but look at {what}.", what=", ".join(look)), "warning"
    return say("Memory works; {number} plugins are loaded.", number=len(report["plugins"])), "success"


def _to_look_at(report: dict[str, Any]) -> list[str]:
    checks = [check["verb"] for check in report["checks"] if check["level"] in {"warning", "error"}]
    return [*checks, *(found["name"] for found in report["installation"] if found["state"] == "warning")]


def _owner_lines(report: dict[str, Any]) -> list[str]:
    owner = report["owner"]
    if not owner["ready"]:
        return [say("Memory: refused ({reason}).", reason=owner["reason"])]
    who, provider = owner["persona"] or phrase("no persona"), owner["provider"]
    if owner["leg"]:
        return [say("Memory: of {who}, as {provider} says, a delegated leg.", who=who, provider=provider)]
    return [say("Memory: of {who}, as {provider} says.", who=who, provider=provider)]


def _plugin_lines(report: dict[str, Any]) -> list[str]:
    lines = [say("Plugins:")]
    for state in report["plugins"]:
        detail = f": {state['detail']}" if state["detail"] else ""
        hooks = say_n("{number} hook", "{number} hooks", len(state["hooks"]))
        lines.append(f"  {state['name']}  {worded(_STATES[state['state']])}, {hooks}{detail}")
    problems = report["problems"]
    return [*lines, *([say("Problems on the bus:"), *(f"  {item}" for item in problems)] if problems else [])]


def _lacking_lines(report: dict[str, Any]) -> list[str]:
    missing = report["lacking"]
    if not missing:
        return [say("The host {host} lacks nothing.", host=report["host"])]
    return [
        say("The host {host} lacks:", host=report["host"]),
        *(f"  {name}: {say(cost)}" for name, cost in missing.items()),
    ]


def _installation_lines(report: dict[str, Any]) -> list[str]:
    found: list[dict[str, str]] = report["installation"]
    if not found:
        return []
    lines = (f"  {_MARKS[one['state']]} {one['name']}: {worded(one['detail'])}" for one in found)
    return [say("Installation:"), *lines]


def _model_lines(report: dict[str, Any]) -> list[str]:
    models: dict[str, dict[str, Any]] = report["models"]
    if models["default"]["model"] is None:
        if report["unreadable"]:
            return [say("Models: none is known while the settings cannot be read.")]
        return [say("Models: none is configured."), f"  {worded(HOW)}"]
    lines = [say("Models:")]
    for role, choice in models.items():
        model = choice["model"]
        if choice["baseUrl"]:
            model = say("{model} at {address}", model=model, address=choice["baseUrl"])
        note = f"  {say('(not a known role)')}" if role in report["unknownRoles"] else ""
        lines.append(f"  {role}: {model}{note}")
    return lines


def _path_line(name: str, entry: dict[str, Any]) -> str:
    there = "" if entry["exists"] else f"  {say('(not created)')}"
    return f"  {worded(_PLACES[name])}: {entry['path']}{there}"

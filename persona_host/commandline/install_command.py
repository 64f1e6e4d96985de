"""``persona install`` and ``persona uninstall``."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from persona_hooks.speech import IN_ENGLISH, speaking, worded
from persona_hooks.verbs import Answer
from persona_host.adapters import installing
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from collections.abc import Callable

    from persona_hooks.cards import Card
    from persona_host.place import Place
    from persona_host.runtime import Runtime

_PROGRAMS = frozenset({"node", "pi"})
_LISTED = f"{', '.join(installing.NAMES[:-1])} or {installing.NAMES[-1]}"


def _target(place: Place) -> installing.Target:
    def runtime() -> Runtime:
        from persona_host.headless import headless_runtime  # noqa: PLC0415 - loads the plugins; uninstalling needs none

        # Without a session, no plugin reads or writes anything.
        return headless_runtime(agent_dir=place.agent_dir, home=place.home, environ=place.environ)

    return installing.Target(place.agent_dir, place.environ, runtime, home=place.home)


def _run(
    do: Callable[[str, installing.Target], installing.Told],
    name: str,
    place: Place,
    host: str,
    *,
    as_json: bool,
    plain: bool,
) -> int:
    from persona_host.oneshot import printed  # noqa: PLC0415 - refusals are printed without it

    with speaking(IN_ENGLISH) if as_json else nullcontext():
        target = _target(place)
        card, changed = do(host, target)
        if do is installing.install:
            card = _with_programs(card, host, target)
    details = {"host": host, "changed": changed}
    return printed(Answer(name, ok=True, changed=changed, card=card, details=details), as_json=as_json, plain=plain)


def _with_programs(card: Card, host: str, target: installing.Target) -> Card:
    """Return the card of an installation that says which of the host's programs would not run it."""
    from persona_host.adapters.checking import check  # noqa: PLC0415 - asks programs; uninstalling does not

    wrong = [found for found in check(host, target) if found.name in _PROGRAMS and found.state != "ok"]
    # That there is none on the path stands in the card already.
    told = [f"{one.name}: {worded(one.detail)}" for one in wrong if one.name != host or one.state == "error"]
    return replace(card, body=(*card.body, *told), level="warning") if told else card


@click.command(
    context_settings=CONTEXT,
    help=f"""Install our side of another host: {_LISTED}.

    Writes below home and the agent directory only, and never calls the host.
    """,
)
@click.argument("host")
@plain_option
@json_option
@common
def install(place: Place, /, host: str, *, as_json: bool, plain: bool) -> int:
    """Install our side of another host."""
    return _run(installing.install, "install", place, host, as_json=as_json, plain=plain)


@click.command(
    context_settings=CONTEXT,
    help=f"""Take our side of another host away: {_LISTED}.

    The host is left as it was found; memory itself is left alone.
    """,
)
@click.argument("host")
@plain_option
@json_option
@common
def uninstall(place: Place, /, host: str, *, as_json: bool, plain: bool) -> int:
    """Take our side of another host away."""
    return _run(installing.uninstall, "uninstall", place, host, as_json=as_json, plain=plain)

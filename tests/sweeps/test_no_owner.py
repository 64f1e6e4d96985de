"""Without an owner to rely on, every verb refuses with a reason, and no file or directory appears."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.messages import COMPANION, MEMORY_OWNER
from tests.support.sweeping import opened, plausible, shipped, verbs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from persona_hooks.ports import Host
    from persona_host.loading import Found

FACT = "Remember that the staging database listens on port 5433."


class Impostor:
    """A plugin that answers as a companion does, but for what a case changes. Values that are callable are called."""

    def __init__(self, host: Host, companion: dict[str, Any] | None, owner: dict[str, Any] | None) -> None:
        if companion is not None:
            self._provide(host, COMPANION, {"provider": "impostor", "contract": 1, "release": "9"} | companion)
        if owner is not None:
            whole = {"provider": "impostor", "seat": "main", "ready": True, "persona": "ada"} | owner
            self._provide(host, MEMORY_OWNER, whole)

    @staticmethod
    def _provide(host: Host, channel: str, reply: dict[str, Any]) -> None:
        def answer(request: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever the bus brings
            if reply.get("raises"):
                raise OSError("the companion's disk is full")
            return {"sessionId": request.session_id} | reply

        host.bus.provide(channel, answer)


def impostor(
    companion: dict[str, Any] | None, owner: dict[str, Any] | None, name: str = "persona_companion", *beside: str
) -> Callable[[], Found]:
    """Return plugins in which the impostor stands under ``name``, the companion's own unless it comes beside it."""

    def plugins() -> Found:
        made: Found = [(name, lambda: lambda host: Impostor(host, companion, owner))]
        return [*shipped("persona_mind", *beside), *made]

    return plugins


CASES: dict[str, tuple[Callable[[], Found], dict[str, str], set[str]]] = {
    "off": (shipped, {"PI_PERSONA_DISABLE": "1"}, {"no_companion"}),
    "missing": (lambda: shipped("persona_mind"), {}, {"unknown_verb"}),
    "two companions": (impostor({}, {}, "second", "persona_companion"), {}, {"ambiguous_companion"}),
    "late": (impostor({}, {"ready": False}), {}, {"owner_not_ready"}),
    "no owner": (impostor({}, None), {}, {"no_owner"}),
    "companion raises": (impostor({"raises": True}, {}), {}, {"companion_failed"}),
    "owner raises": (impostor({}, {"raises": True}), {}, {"companion_failed"}),
    "another contract": (impostor({"contract": 2}, {}), {}, {"incompatible_companion"}),
    "malformed owner": (impostor({}, {"persona": 7}), {}, {"incompatible_companion"}),
    "companion of another session": (impostor({"sessionId": "other"}, {}), {}, {"foreign_owner"}),
    "owner of another session": (impostor({}, {"sessionId": "other"}), {}, {"foreign_owner"}),
    "owner of another seat": (impostor({}, {"seat": "other"}), {}, {"foreign_owner"}),
    "owner of another provider": (impostor({}, {"provider": "other"}), {}, {"foreign_owner"}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_verb_refuses_at_every_door_and_leaves_nothing(case: str, home: Path) -> None:
    plugins, environ, reasons = CASES[case]
    runtime = opened(home, environ, plugins)
    try:
        # Where the mind is left out, its verbs are unknown; elsewhere they refuse themselves.
        known = {verb.name for verb in runtime.registry}
        called = verbs() if reasons == {"unknown_verb"} else [verb for verb in verbs() if verb.name in known]
        assert {verb.prefix for verb in called} >= {"memory", "mind"}
        for verb in called:
            for audience in sorted(verb.shown_to):
                answer = runtime.call(
                    verb.name, plausible(verb), session=runtime.session, origin="user", audience=audience
                )
                assert (answer.ok, answer.changed) == (False, "no"), f"{verb.name} for {audience}"
                assert answer.details["reason"] in reasons, f"{verb.name} for {audience}"
                assert answer.text
    finally:
        runtime.close()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_captured_injected_or_offered(case: str, home: Path) -> None:
    plugins, environ, _ = CASES[case]
    runtime = opened(home, environ, plugins)
    try:
        runtime.input(FACT)
        runtime.fire("before_turn", text=FACT)
        assert not [block for block in runtime.blocks(FACT) if "5433" in block.text]
        runtime.settled()
        assert runtime.tools("model") == []
    finally:
        runtime.close()
    assert list(home.iterdir()) == []

"""What every host must do, each as its real program: the same points for all, many of them from the registry.

A host that lacks a point says so in its ``Capabilities``. Then ``persona doctor --host`` must tell a person, with what
it costs, and the point is skipped in those words.
"""

from __future__ import annotations

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks.errors import BusyError
from persona_hooks.tools import parameters
from persona_host.hosts import COSTS
from persona_host.hosts import HOSTS as KNOWN
from tests.hosts.conformance.conftest import DRIVERS, HOSTS
from tests.hosts.conformance.driver import running
from tests.hosts.conformance.world import ASKED, ID, SLOW, World, ended, registry_of
from tests.support.cli import Persona
from tests.support.model_server import MODEL

if TYPE_CHECKING:
    from pathlib import Path

    from persona_hooks.verbs import AnyVerb
    from tests.hosts.conformance.driver import Driver, Json

pytestmark = HOSTS
VERBS = [verb for verb in registry_of() if {"model", "mcp"} <= verb.shown_to and verb.prefix != "probe"]
WRITES = 4


@cache
def doctor(host: str, home: Path) -> str:
    """Return what ``persona doctor --host`` prints."""
    ran = Persona({"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}, home)("doctor", "--host", host)
    return ran.out + ran.err


def needs(host: Driver, capability: str) -> None:
    """Go on where the host has a capability; else check that doctor says what it lacks, and skip in its words."""
    if getattr(KNOWN[host.name], capability):
        return
    line = f"{capability}: {COSTS[capability]}"
    assert f"  {line}\n" in doctor(host.name, host.world.home)
    pytest.skip(f"{host.name} lacks {line}, as doctor says")


def remembered(host: Driver, **more: str) -> tuple[str, str]:
    """Let the model save a fact; return its id and its text."""
    text = host.world.fact()
    called = host.call("memory", {"action": "remember", "kind": "note", "text": text, **more})
    assert called.ok, called.text
    return ID.findall(called.text)[0], text


# --- start, tools, commands


def test_it_starts_reads_nothing_into_being_and_ends_in_order(fresh: Driver) -> None:
    host = fresh.start()
    assert host.call("memory", {"action": "recall", "query": "harbour"}).ok
    assert host.world.rows() == {}
    ours = host.ours()
    assert ours
    assert host.stop() == 0
    assert ended(ours)


def test_every_tool_of_the_registry_is_offered_with_its_schema(shared: Driver) -> None:
    assert shared.offered() == shared.world.schemas(shared.audience)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_call_of_every_verb_is_performed_and_stands_on_the_disk(shared: Driver, verb: AnyVerb) -> None:
    arguments = valid(shared, verb)
    before = shared.world.rows()
    called = shared.call(verb.prefix, {"action": verb.action, **arguments})
    assert called.ok, called.text
    if verb.effect == "read":
        assert shared.world.rows() == before
    elif verb.prefix == "notes":
        kept(shared, verb, arguments)
    elif "text" in arguments:
        (row,) = [row for row in latest(shared.world) if row["text"] == arguments["text"]]
        assert (row["origin"], row["id"] in before) == ("model", False)
    else:
        assert shared.world.rows().get(arguments["id"]) != before[arguments["id"]]


def valid(host: Driver, verb: AnyVerb) -> Json:
    """Return arguments that the verb accepts: its required parameters, with ids of rows that are made for it."""
    made: Json = {}
    schema = parameters(verb.params)
    for name in schema.get("required", ()):
        if name == "id":
            made[name] = prepared(host, verb)
        elif verb.prefix == "sessions":
            made[name] = dict(zip(("session", "turn"), host.world.turn, strict=True))[name]
        else:
            made[name] = host.world.fact(verb.action)
    if verb.name == "backlog.snooze":
        made["dueInSeconds"] = 3600
    return made


def prepared(host: Driver, verb: AnyVerb) -> str:
    """Make a row that ``verb`` can be about, by the one verb of its tool that takes a text; return its id."""
    (maker,) = [
        other
        for other in VERBS
        if other.prefix == verb.prefix and other.effect == "write" and parameters(other.params)["required"] == ["text"]
    ]
    more = {"scope": "stm"} if verb.name == "memory.promote" else {}
    called = host.call(verb.prefix, {"action": maker.action, "text": host.world.fact("mast"), **more})
    assert called.ok, called.text
    return str(ID.findall(called.text)[0])


def latest(world: World) -> list[Json]:
    """Return every row on the disk."""
    return [row for files in world.rows().values() for row in files.values()]


def kept(host: Driver, verb: AnyVerb, arguments: Json) -> None:
    """Check a note: it lives in the session's log, which some hosts have in memory only."""
    listed = host.call("notes", {"action": "list"}).text
    if verb.action == "forget":
        assert arguments["id"] not in listed
    else:
        assert arguments["text"] in listed
        assert (arguments["text"] in host.world.logged()) == host.keeps_log


def test_a_call_that_is_refused_says_why_to_the_model(shared: Driver) -> None:
    called = shared.call("memory", {"action": "read", "id": "0123456789ab"})
    assert not called.ok
    assert called.text


def test_commands_are_answered_without_a_model(shared: Driver) -> None:
    needs(shared, "commands")
    _, text = remembered(shared)
    before = len(shared.world.model.requests)
    number = text.split()[3]
    assert text in shared.command(f"/mind recall {number} berths")
    assert "Mind of" in shared.command("/mind")
    assert shared.command("/persona")
    assert len(shared.world.model.requests) == before


# --- the conversation


def test_what_is_remembered_stands_in_the_request(shared: Driver) -> None:
    needs(shared, "injection")
    _, text = remembered(shared)
    pier = text.split()[-1].rstrip(".")
    assert text in shared.say(f"How many berths has pier {pier} of the harbour?")


def test_what_another_process_saves_stands_in_the_next_request_and_in_no_log(shared: Driver) -> None:
    needs(shared, "injection")
    text = shared.world.fact("lock")
    arguments = json.dumps({"action": "remember", "kind": "note", "text": text})
    assert shared.world.shell("tool", "memory", arguments).code == 0
    assert text in shared.say(f"What of the lock at pier {text.split()[-1]}")
    assert text not in shared.world.logged()


def test_a_strong_cue_is_captured_as_the_persons_own(shared: Driver) -> None:
    needs(shared, "input")
    text = shared.world.fact("quay")
    shared.say(f"Remember that {text[0].lower()}{text[1:]}")
    (row,) = [row for row in latest(shared.world) if row["text"].lower() == text.lower()]
    assert (row["origin"], row["host"]) == ("user", shared.name)


def test_a_note_stays_on_its_branch(shared: Driver) -> None:
    needs(shared, "branches")
    first, note = shared.world.fact("first"), shared.world.fact("note")
    shared.say(first)
    assert shared.call("notes", {"action": "save", "text": note}).ok
    assert note in shared.say("What did you note?")
    shared.back_to(first)
    assert note not in shared.say("And what did you note on this branch?")


# --- the port to the session's model


def test_a_plugin_is_answered_by_the_sessions_exact_model_without_tools(shared: Driver) -> None:
    needs_model(shared)
    called = shared.call("probe", {"action": "ask", "text": "How many?"})
    assert called.ok, called.text
    assert ASKED in called.text
    (asked,) = [request for request in shared.world.model.requests if request.of("user")[-1:] == ["How many?"]]
    assert (asked.body["model"], asked.tools) == (MODEL, [])


def test_a_model_that_is_too_slow_is_given_up_at_its_deadline(shared: Driver) -> None:
    needs_model(shared)
    called = shared.call("probe", {"action": "ask", "text": SLOW, "seconds": 0.3})
    assert not called.ok
    assert remembered(shared)


def test_a_call_that_is_taken_back_while_the_model_thinks_holds_nothing_up(shared: Driver) -> None:
    needs_model(shared)
    shared.give_up({"action": "ask", "text": SLOW, "seconds": 2.0})
    assert remembered(shared)


def needs_model(host: Driver) -> None:
    """As ``needs``; a host without a model says so to whoever asks for one."""
    if not KNOWN[host.name].models:
        called = host.call("probe", {"action": "ask", "text": "How many?"})
        assert (called.ok, "model" in called.text) == (False, True)
    needs(host, "models")


# --- who speaks


def test_each_persona_has_a_memory_of_its_own(fresh: Driver) -> None:
    for name in ("ada", "bob"):
        fresh.world.brief(name)
    text = fresh.world.fact()
    arguments = json.dumps({"action": "remember", "kind": "note", "text": text})
    assert fresh.world.shell("tool", "memory", arguments, "--persona", "ada").code == 0
    with running(fresh, persona="ada") as host:
        saved, _ = remembered(host)
        assert recalled(host, saved)
        host.use("bob")
        assert not recalled(host, saved)
        if KNOWN[host.name].injection:
            asked = host.say("What of the harbour and its berths?")
            assert ("You are bob." in asked, text in asked) == (True, False)
        host.use("ada")
        assert recalled(host, saved)
        if KNOWN[host.name].injection:
            assert text in host.say("And now, what of the harbour?")


def recalled(host: Driver, row: str) -> bool:
    return host.call("memory", {"action": "read", "id": row}).ok


def test_a_delegated_leg_is_given_memory_and_no_tools(fresh: Driver) -> None:
    text = fresh.world.fact()
    arguments = json.dumps({"action": "remember", "kind": "note", "text": text})
    assert fresh.world.shell("tool", "memory", arguments).code == 0
    with running(fresh, leg=True) as leg:
        assert leg.offered() == {}
        if KNOWN[leg.name].injection:
            assert text in leg.say("What of the harbour and its berths?")
        assert len(latest(leg.world)) == 1


# --- ends


def test_what_was_acknowledged_survives_the_death_of_our_process(fresh: Driver) -> None:
    host = fresh.start()
    saved, _ = remembered(host)
    (ours, *_) = host.ours()
    os.kill(ours, signal.SIGKILL)
    assert ended([ours])
    if host.lives_on:
        assert host.say("Still there?").endswith("Still there?")
        assert host.command("/mind")
    else:
        died(host)
        host = type(host)(host.world).start()
    assert recalled(host, saved)
    assert remembered(host)
    host.stop()


def died(host: Driver) -> None:
    """Clean up after a host whose process was killed; that it ends badly is what was done to it."""
    try:
        host.stop()
    except (OSError, AssertionError, RuntimeError, ExceptionGroup):
        return


def test_hosts_that_write_one_profile_at_once_lose_nothing(fresh: Driver) -> None:
    beside = next(other for other in DRIVERS if other is not type(fresh) and not other.missing())
    with running(fresh) as first, running(beside(fresh.world)) as second, ThreadPoolExecutor() as pool:
        jobs = [pool.submit(several, host) for host in (first, second)]
        acknowledged = [text for job in jobs for text in job.result()]
    assert len(acknowledged) == 2 * WRITES
    assert sorted(row["text"] for row in latest(fresh.world)) == sorted(acknowledged)


def several(host: Driver) -> list[str]:
    """Let one host's model save some facts, again where it is told to wait; return those that were acknowledged."""
    texts = [host.world.fact(type(host).__name__) for _ in range(WRITES)]
    for text in texts:
        arguments: Any = {"action": "remember", "kind": "note", "text": text}
        called = host.call("memory", arguments)
        while not called.ok and BusyError.default_reason in called.text:
            called = host.call("memory", arguments)
        assert called.ok, called.text
    return texts

"""Every known fault of Pi and of our process under it, and the test that holds what becomes of it.

======================================  ===============================================================================
a tool kills Python                     test_pi_link: a_tool_that_kills_python_says_that_the_outcome_is_unknown
Python dies again and again             test_pi_link: python_that_dies_again_and_again_is_left_alone_and_…
no interpreter, no package              test_pi_link: an_interpreter_that_is_gone, a_python_without_the_package,
                                        without_python_pi_works
a handler hangs                         test_pi_link: a_stopped_python_is_passed_over, a_hung_plugin_costs_no_more;
                                        benchmarks/pi_faults
Python is slow once                     here: a_python_that_was_only_slow_is_used_again
a tool is aborted                       here: an_aborted_tool_ends_at_once, …_that_does_not_listen_…
garbage, stray prints, children         test_pi_link: a_child_that_floods_the_wire; test_stdio: noise
an endless line                         test_pi_link: a_child_that_floods_the_wire[endless]
quit while Python hangs                 test_pi_link: quit_while_python_is_stopped
SIGTERM or SIGKILL for Pi               test_pi_link: no_orphan_is_left; benchmarks/pi_orphans
an append with an old guard             here: an_append_with_an_old_guard_is_refused_by_the_extension
--------------------------------------  -------------------------------------------------------------------------------
queries that cannot cross the wire      test_foreign_companion
a gap between check and append          here: an_append_with_an_old_guard;
                                        test_foreign_companion: an_owner_that_changes_before_an_entry
no signal in input                      test_pi_link: a_stopped_python_is_passed_over (deadlines in its place)
session_start that waits                here: a_python_that_starts_slowly_holds_nothing_up
events as notifications, in order       test_pi_link: events_and_usage_reach_python_in_order
an uncertain outcome                    test_pi_link: a_tool_that_kills_python_says_that_the_outcome_is_unknown;
                                        here: tools_stay_offered_through_a_restart
a slow tool in the way of events        here: events_pass_a_slow_tool
the order of a shutdown                 test_pi_link: no_orphan_is_left, a_new_session_gets_a_process_of_its_own
no notices in print mode                test_pi_link: in_print_mode_answers_go_to_standard_error
U+2028, a closed pipe, an old manifest  here: a_line_ends_at_a_line_feed_only;
                                        test_pi_link: python_killed_in_mid_session, an_old_manifest_is_noticed
======================================  ===============================================================================
"""

from __future__ import annotations

import json
import os
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.hosts.test_pi_link import pi, python_of, rogue, sample_home
from tests.support.model_server import ModelServer, Reply, ToolCall
from tests.support.pi import configure_model, install_extension

if TYPE_CHECKING:
    from tests.support.model_server import Request
    from tests.support.pi import Pi
    from tests.support.pi_home import PiHome

__all__ = ["pi", "sample_home"]


def test_a_python_that_was_only_slow_is_used_again(pi: Pi, model: ModelServer) -> None:
    pi.say("one")
    python = python_of(pi)
    os.kill(python, signal.SIGSTOP)
    pi.say("while it is slow")
    os.kill(python, signal.SIGCONT)
    pi.say("/sample seen")  # a command waits until the ping is answered
    pi.say("afterwards")
    assert python_of(pi) == python
    assert [request.of("user")[-1] for request in model.requests][1] == "while it is slow"
    assert "prompt=afterwards" in model.requests[-1].of("user")[-1]


@pytest.mark.parametrize(("action", "text"), [("sleep", "3600"), ("ask", "think")])
def test_an_aborted_tool_ends_at_once_whether_it_listens_or_not(sample_home: PiHome, action: str, text: str) -> None:
    def script(request: Request) -> Reply:
        if not request.tools:
            return Reply("too late", delay=30.0)
        said = request.of("user")[-1]
        return (
            Reply(calls=(ToolCall("sample", {"action": action, "text": text}),)) if said.endswith("go") else Reply("ok")
        )

    with ModelServer(script) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("one")
            pi.command("prompt", message="go")
            pi.wait_for(lambda: pi.count("tool_execution_start"))
            began = time.monotonic()
            pi.command("abort")
            pi.wait_for(lambda: pi.count("agent_settled") > 1)
            assert time.monotonic() - began < 25  # neither the tool's hour nor the model's half minute
            assert pi.of("tool_execution_end")[-1]["isError"]
            pi.say("two")
            assert "prompt=two" in model.requests[-1].of("user")[-1]


def test_events_pass_a_slow_tool(sample_home: PiHome) -> None:
    calls = (ToolCall("sample", {"action": "sleep", "text": "2"}), ToolCall("bash", {"command": "echo hush"}))
    with ModelServer([Reply(calls=calls), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("both")
        results = model.requests[1].of("tool")
    assert [result.strip() for result in results] == ["slept", "****"]  # bash's was read while the other slept


def test_an_append_with_an_old_guard_is_refused_by_the_extension(pi_home: PiHome, model: ModelServer) -> None:
    rogue(pi_home, model, "stale")
    with pi_home.start() as pi:
        pi.wait_for((pi_home.home / "answers").exists)
        entries = [entry for entry in pi.entries() if entry.get("customType") == "rogue"]
    told = json.loads((pi_home.home / "answers").read_text(encoding="utf-8"))
    assert told == ["stale_session", "stale_session", "stale_session", "branch_moved", "owner_changed", "appended"]
    assert [entry["data"] for entry in entries] == [{"number": 5}]


def test_a_python_that_starts_slowly_holds_nothing_up(sample_home: PiHome, model: ModelServer) -> None:
    slow = sample_home.home / "slow-python"
    slow.write_text(f'#!/bin/sh\nsleep 5\nexec {sample_home.home / "sample-python"} "$@"\n', encoding="utf-8")
    slow.chmod(0o755)
    folder = sample_home.agent_dir / "extensions" / "persona-mind"
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    install_extension(sample_home.agent_dir, python=slow, manifest=manifest)
    with sample_home.start(PERSONA_PATIENCE_MS="200") as pi:
        pi.say("before it is there")
        pi.say("still before")
        assert [request.of("user")[-1] for request in model.requests] == ["before it is there", "still before"]
        pi.say("/sample seen")
        pi.say("now")
        assert "prompt=now" in model.requests[-1].of("user")[-1]


def test_tools_stay_offered_through_a_restart(sample_home: PiHome) -> None:
    keep = Reply(calls=(ToolCall("sample", {"action": "keep", "text": "ROSE-2"}),))
    with ModelServer(["one", keep, "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("one")
            os.kill(python_of(pi), signal.SIGKILL)
            pi.say("please do")
        assert ["sample" in request.tools for request in model.requests] == [True, True, True]
        (result,) = model.requests[-1].of("tool")
    assert "durable=True" in result  # the call waited for the new process


def test_a_line_ends_at_a_line_feed_only(sample_home: PiHome) -> None:
    text = "one\u2028two\u2029three\x85four"
    keep = Reply(calls=(ToolCall("sample", {"action": "keep", "text": text}),))
    with ModelServer([keep, "done", "again"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("please do")
            pi.say("what is kept?")
        assert f"kept={text}\n" in model.requests[-1].of("user")[-1]

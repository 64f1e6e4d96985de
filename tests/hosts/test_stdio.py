"""``persona stdio`` as a host sees it: a real child process, spoken to over its pipes."""

from __future__ import annotations

import json
import queue
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from persona_host.adapters.stdio.wire import MAX_LINE
from tests.support.stdio_host import ROOT, Refusal, StdioHost, interpreter, python_env

if TYPE_CHECKING:
    from collections.abc import Iterator

CHILD = Path(__file__).with_name("sample_child.py")


@pytest.fixture
def host(tmp_path: Path) -> Iterator[StdioHost]:
    env = python_env(tmp_path, SAMPLE_END=str(tmp_path / "end"))
    with StdioHost([interpreter(), str(CHILD)], env, ROOT) as host:
        yield host


@pytest.fixture
def opened(host: StdioHost) -> StdioHost:
    host.initialize()
    return host


def tool(host: StdioHost, action: str, text: str = "x") -> dict[str, Any]:
    return host.call("tool", {"name": "sample", "arguments": {"action": action, "text": text}})


def test_the_greeting_says_what_is_offered_and_which_hooks_are_heard(host: StdioHost) -> None:
    greeting = host.initialize()
    assert greeting["tools"] == ["sample"]
    assert {"input", "before_agent_start", "message_end"} <= set(greeting["hooks"])
    assert greeting["failed"] == []


def test_a_manifest_comes_whole_only_where_the_host_has_another_one(host: StdioHost) -> None:
    greeting = host.initialize(manifest="old")
    assert greeting["current"]["hash"] == greeting["manifest"]
    assert [item["name"] for item in greeting["current"]["commands"]] == ["sample"]


def test_a_known_manifest_is_not_sent_again(host: StdioHost, tmp_path: Path) -> None:
    known = host.initialize()["manifest"]
    env = python_env(tmp_path, SAMPLE_END=str(tmp_path / "end2"))
    with StdioHost([interpreter(), str(CHILD)], env, ROOT) as second:
        assert "current" not in second.initialize(manifest=known)


def test_another_protocol_is_refused_in_words(host: StdioHost) -> None:
    with pytest.raises(Refusal, match="protocol 1") as caught:
        host.initialize(protocol=2)
    assert caught.value.data["reason"] == "protocol"


@pytest.mark.parametrize("method", ["tool", "command", "event/input", "event/agent_end"])
def test_nothing_is_served_before_a_session_is_open(host: StdioHost, method: str) -> None:
    with pytest.raises(Refusal) as caught:
        host.call(method, {"name": "sample", "arguments": {}, "line": "/sample", "text": ""})
    assert caught.value.data["reason"] == "no_session"


def test_a_malformed_initialize_names_the_field(host: StdioHost) -> None:
    with pytest.raises(Refusal, match="cwd must be a string") as caught:
        host.initialize(cwd=7)
    assert caught.value.data["field"] == "cwd"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("cwd", "/home/a\0b"),
        ("cwd", "/home/\ud800"),
        ("cwd", "/a" * 20_000),
        ("sessionId", ""),
        ("sessionId", "a\x9bb"),
        ("sessionId", "x" * 129),
        ("persona", 5),
        ("persona", "\ud800"),
    ],
)
def test_what_no_session_can_have_is_refused_by_its_field_and_the_next_one_opens(
    host: StdioHost, field: str, value: object
) -> None:
    with pytest.raises(Refusal, match=field) as caught:
        host.initialize(**{field: value})
    assert caught.value.data["field"] == field
    assert host.initialize()["tools"] == ["sample"]


@pytest.mark.parametrize("entries", [5, None, [{"id": "x", "customType": "y", "data": {}}] * 1_001])
def test_cards_that_cannot_be_made_are_refused_by_name(opened: StdioHost, entries: object) -> None:
    with pytest.raises(Refusal, match="entries"):
        opened.call("cards", {"entries": entries})


def test_input_goes_on_changes_or_is_answered(opened: StdioHost) -> None:
    results = [opened.call("event/input", {"text": t, "source": "rpc"}) for t in ("plain", "change it", "answer me")]
    assert results[0] == {"action": "continue"}
    assert results[1] == {"action": "transform", "text": "it"}
    assert results[2]["action"] == "handled"
    assert results[2]["card"]["compact"] == ["ME"]


def test_blocks_are_joined_in_their_order(opened: StdioHost) -> None:
    assert opened.call("event/before_agent_start", {"prompt": "p"})["block"] == "kept=\n\nprompt=p"


def test_an_append_is_compared_by_the_host_and_shown_by_a_card(opened: StdioHost) -> None:
    opened.call("event/input", {"text": "keep fact-1", "source": "rpc", "leaf": None})
    assert [entry["data"] for entry in opened.entries] == [{"persona": None}, {"id": "fact-1"}]
    opened.wait_for(lambda: opened.noticed("ui.card"))
    assert opened.noticed("ui.card") == [
        {"entryId": "e2", "level": "info", "compact": ["Kept fact-1"], "expanded": ["Kept fact-1"]}
    ]
    assert "kept=fact-1" in opened.call("event/before_agent_start", {"prompt": ""})["block"]


def test_a_long_log_crosses_the_wire_once(opened: StdioHost) -> None:
    blocks = []
    for number in range(3):
        opened.call("event/input", {"text": f"keep fact-{number}", "source": "rpc"})
        blocks.append(opened.call("event/before_agent_start", {"prompt": ""})["block"])
    assert "kept=fact-0,fact-1,fact-2" in blocks[-1]
    assert [params["since"] for method, params in opened.asked if method == "session.entries"] == [0, 0, 2, 3]


def test_only_the_branch_from_the_leaf_is_read(opened: StdioHost) -> None:
    opened.call("event/input", {"text": "keep fact-0", "source": "rpc"})
    opened.call("event/input", {"text": "keep fact-1", "source": "rpc"})
    elsewhere = {"id": "m1", "parentId": "e2", "timestamp": "", "type": "message"}
    opened.entries.append(elsewhere)
    assert "kept=fact-0\n" in opened.call("event/before_agent_start", {"prompt": ""})["block"]


def test_a_log_that_is_another_one_is_read_anew(opened: StdioHost) -> None:
    opened.call("event/input", {"text": "keep fact-0", "source": "rpc"})
    opened.call("event/before_agent_start", {"prompt": ""})
    opened.entries.clear()
    assert "kept=\n" in opened.call("event/before_agent_start", {"prompt": ""})["block"]


def test_an_append_on_a_branch_that_moved_is_refused(opened: StdioHost) -> None:
    opened.entries.append({"id": "m1", "parentId": None, "timestamp": "", "type": "message"})
    refused = opened.call(
        "tool", {"name": "sample", "arguments": {"action": "keep", "text": "a"}, "leaf": "somewhere else"}
    )
    assert refused["ok"] is False
    assert refused["details"]["reason"] == "branch_moved"
    assert [entry["type"] for entry in opened.entries] == ["message"]
    kept = opened.call("tool", {"name": "sample", "arguments": {"action": "keep", "text": "a"}, "leaf": "m1"})
    assert kept["ok"] is True


def test_an_append_that_the_host_does_not_answer_is_uncertain(opened: StdioHost) -> None:
    opened.stall.add("session.append")
    answer = tool(opened, "keep")
    assert (answer["ok"], answer["changed"]) == (False, "unknown")


def test_cards_of_older_entries_are_made_on_demand(opened: StdioHost) -> None:
    entries = [
        {"id": "old", "customType": "sample-card", "data": {"id": "fact-9"}},
        {"id": "foreign", "customType": "someone-elses", "data": {}},
    ]
    cards = opened.call("cards", {"entries": entries})["cards"]
    assert list(cards) == ["old"]
    assert cards["old"]["expanded"] == ["Kept fact-9"]


def test_a_command_is_answered_and_an_unknown_one_refused(opened: StdioHost) -> None:
    kept = opened.call("command", {"line": "/sample keep something"})
    assert (kept["ok"], kept["card"]["compact"]) == (True, ["e1 durable=False"])
    unknown = opened.call("command", {"line": "/nothing"})
    assert (unknown["ok"], unknown["card"]["level"]) == (False, "warning")
    assert "/sample keep" in opened.call("complete", {"line": "/sample k"})["items"]


def test_events_are_handled_in_the_order_in_which_they_happened(opened: StdioHost) -> None:
    opened.tell("event/agent_start")
    opened.tell("event/message_end", {"role": "assistant", "usage": {"input": 12, "output": 3}})
    opened.tell("event/agent_end")
    opened.call("ping")
    assert tool_seen(opened) == "agent_start assistant:12+3 agent_end"


def tool_seen(host: StdioHost) -> str:
    return str(host.call("tool", {"name": "sample", "arguments": {"action": "seen"}})["text"])


def test_a_slow_tool_holds_up_neither_events_nor_other_tools(opened: StdioHost) -> None:
    slow = opened.start("tool", {"name": "sample", "arguments": {"action": "sleep", "text": "3600"}})
    assert opened.call("event/input", {"text": "plain", "source": "rpc"}) == {"action": "continue"}
    assert tool(opened, "keep")["ok"] is True
    with pytest.raises(queue.Empty):
        opened.result(slow, seconds=0.01)


def test_a_cancelled_call_begins_nothing_more(opened: StdioHost) -> None:
    slow = opened.start("tool", {"name": "sample", "arguments": {"action": "sleep", "text": "3600"}})
    opened.tell("$/cancel", {"id": slow})
    answer = opened.result(slow)
    assert (answer["ok"], answer["changed"]) == (False, "no")


def test_a_hung_plugin_costs_one_budget_and_then_events_go_on(opened: StdioHost) -> None:
    assert opened.call("event/input", {"text": "hang", "source": "rpc"}) == {"action": "continue"}
    assert opened.call("event/before_agent_start", {"prompt": "p"}) == {"block": ""}
    assert opened.call("ping") == {}


def test_prints_and_child_processes_cannot_disturb_the_wire(opened: StdioHost) -> None:
    assert tool(opened, "noise", "line\u2028separator")["text"] == "loud"
    _, stderr = opened.close()
    assert opened.stray == []
    assert "stray line" in stderr
    assert "from a child" in stderr


def test_text_beyond_ascii_and_line_separators_survive_the_wire(opened: StdioHost) -> None:
    text = "caf\u00e9 \u2028 \u2029 \U0001f600 \x85"
    raw = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "event/input", "params": {"text": f"change {text}", "source": "rpc"}},
        ensure_ascii=False,
    )
    opened._waiting[1] = queue.SimpleQueue()
    opened.write(raw.encode() + b"\n")
    assert opened.result(1) == {"action": "transform", "text": text}


def test_an_unexpected_failure_is_an_answer_that_quotes_nothing(opened: StdioHost) -> None:
    answer = tool(opened, "fail", "private words")
    assert (answer["ok"], answer["changed"]) == (False, "unknown")
    assert "RuntimeError" in answer["text"]
    assert "private words" not in str(answer)
    _, stderr = opened.close()
    assert "private words" not in stderr


def test_a_line_that_is_no_message_is_answered_and_the_next_one_works(opened: StdioHost) -> None:
    opened._waiting[None] = queue.SimpleQueue()  # type: ignore[index]
    opened.write(b"not json\n[1]\n\n")
    with pytest.raises(Refusal, match="not a JSON object"):
        opened.result(None)  # type: ignore[arg-type]
    assert opened.call("ping") == {}


def test_an_unknown_method_is_refused(opened: StdioHost) -> None:
    with pytest.raises(Refusal) as caught:
        opened.call("no/such")
    assert caught.value.code == -32601


def test_an_endless_line_ends_the_child(opened: StdioHost) -> None:
    with pytest.raises(BrokenPipeError):  # the pipe holds less than what comes after the limit
        opened.write(b"x" * (MAX_LINE + 16 * 65536))
    assert opened.process.wait(20) == 1


def test_a_model_that_takes_too_long_is_cancelled_and_the_refusal_says_busy(opened: StdioHost) -> None:
    opened.stall.add("model.complete")
    answer = tool(opened, "ask", "too late")
    assert answer["ok"] is False
    assert answer["details"]["reason"] == "deadline"
    ((method, params),) = opened.asked
    assert (method, params["maxTokens"], params["deadlineMs"], params["role"]) == ("model.complete", 5, 200, "session")
    assert len(opened.noticed("$/cancel")) == 1


def test_a_call_that_is_taken_back_takes_its_question_to_the_model_back_with_it(opened: StdioHost) -> None:
    opened.stall.add("model.complete")
    number = opened.start("tool", {"name": "sample", "arguments": {"action": "ask", "text": "think"}})
    opened.wait_for(lambda: opened.asked)
    opened.tell("$/cancel", {"id": number})
    answer = opened.result(number)
    assert answer["details"]["reason"] == "cancelled"
    assert len(opened.noticed("$/cancel")) == 1
    assert tool(opened, "keep", "afterwards")["ok"]


def test_the_role_that_a_host_asks_for_reaches_the_session(host: StdioHost) -> None:
    host.initialize(role="guest")
    assert tool(host, "role")["text"] == "guest"


def test_a_completion_comes_back_from_the_hosts_model(opened: StdioHost) -> None:
    opened.answers["model.complete"] = lambda params: {"text": f"re: {params['prompt']}", "model": "m"}
    assert tool(opened, "ask", "what?")["text"] == "re: what?"


def test_tools_are_withdrawn_when_nobody_owns_the_session(opened: StdioHost) -> None:
    opened.call("command", {"line": "/sample off"})
    opened.wait_for(lambda: opened.noticed("host.tools"))
    assert opened.noticed("host.tools") == [{"names": []}]
    assert opened.call("command", {"line": "/sample seen"})["ok"] is False


def test_shutdown_ends_the_session_and_closing_the_stream_the_process(opened: StdioHost, tmp_path: Path) -> None:
    opened.call("shutdown", {"reason": "quit"})
    assert (tmp_path / "end").read_text(encoding="utf-8") == "shut down"
    assert opened.close()[0] == 0


def test_closing_the_stream_alone_ends_both(opened: StdioHost, tmp_path: Path) -> None:
    assert opened.close()[0] == 0
    assert (tmp_path / "end").exists()


def test_a_hung_plugin_and_a_running_tool_do_not_keep_the_process_alive(opened: StdioHost) -> None:
    opened.start("event/input", {"text": "hang", "source": "rpc"})
    opened.start("tool", {"name": "sample", "arguments": {"action": "sleep", "text": "3600"}})
    opened.call("ping")
    opened.close()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no process groups to interrupt")
def test_an_interrupt_at_the_terminal_is_left_to_the_host(opened: StdioHost) -> None:
    opened.process.send_signal(signal.SIGINT)
    assert opened.call("ping") == {}


def test_a_second_initialize_is_refused(opened: StdioHost) -> None:
    with pytest.raises(Refusal) as caught:
        opened.initialize()
    assert caught.value.data["reason"] == "initialized"

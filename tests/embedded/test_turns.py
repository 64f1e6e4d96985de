"""One message, from what the person says to the point where nothing more will happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from persona_hooks.specs import Block
from persona_host.embedded.turns import ROUNDS, no_model
from tests.support.embedded import RecordingScreen, Spy, messages
from tests.support.model_server import Failure, ModelServer, Reply, ToolCall

if TYPE_CHECKING:
    from tests.embedded.conftest import Opener

KEEP = ToolCall("spy", {"action": "keep", "text": "port 5433"})


def pointed(spy: Spy, server: ModelServer) -> None:
    spy.settings = {"models.default.model": "openai:scripted", "models.default.baseUrl": server.url}


def test_without_a_model_a_card_says_so_and_what_would_have_been_injected(
    open_host: Opener, screen: RecordingScreen
) -> None:
    host = open_host()
    host.turns.say("which port?")
    [event] = screen.events
    assert (event.kind, event.ok, event.whole) == ("no_model", True, True)
    assert "--model openai:NAME" in event.card.text()
    assert event.data["injected"] == "SPY BLOCK\n\nabout which port?"
    assert "SPY BLOCK" in event.card.text()
    assert messages(host.journal.branch()) == [("user", "which port?")]


def test_hooks_fire_in_the_order_of_the_contract(open_host: Opener, spy: Spy) -> None:
    with ModelServer([Reply(calls=(KEEP,)), "Saved."]) as server:
        pointed(spy, server)
        host = open_host()
        spy.fired.clear()
        host.turns.say("keep the port")
    assert spy.fired == [
        "input",
        "before_turn",
        "before_agent_start",
        "message_end:user",
        "agent_start",
        "message_end:assistant",
        "tool_call:spy",
        "tool_result",
        "message_end:tool",
        "message_end:assistant",
        "agent_end",
        "agent_settled:False",
    ]
    assert ("assistant", 10) in spy.usage


def test_a_tool_call_is_performed_for_the_model_and_its_answer_goes_back(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    with ModelServer([Reply("I keep it.", calls=(KEEP,)), "Saved."]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("keep the port")
    assert spy.kept == ["model:port 5433"]
    assert server.requests[0].tools == ["spy"]
    assert server.requests[1].of("tool") == ["Kept number 1. (seen)"]
    assert screen.kinds() == ["reply", "tool", "card", "reply"]
    assert screen.of("card")[0].card.title == "Card for 1."
    assert "".join(screen.streamed) == "I keep it.Saved."


def test_injected_blocks_are_in_every_request_of_the_turn_and_never_in_the_log(open_host: Opener, spy: Spy) -> None:
    with ModelServer([Reply(calls=(KEEP,)), "Saved.", "Again."]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("one")
        host.turns.say("two")
        path = host.journal.path
    systems = [request.of("system") for request in server.requests]
    assert systems == [["SPY BLOCK\n\nabout one"], ["SPY BLOCK\n\nabout one"], ["SPY BLOCK\n\nabout two"]]
    assert path is not None
    assert b"SPY BLOCK" not in path.read_bytes()


def test_the_history_of_a_request_is_the_active_branch(open_host: Opener, spy: Spy) -> None:
    with ModelServer([Reply(calls=(KEEP,)), "Saved.", "Again."]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("one")
        host.turns.say("two")
    roles = [message["role"] for message in server.requests[2].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]
    assert server.requests[2].of("user") == ["one", "two"]


def test_a_vetoed_call_is_not_performed_and_the_model_reads_why(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    veto = ToolCall("spy", {"action": "keep", "text": "veto"})
    with ModelServer([Reply(calls=(veto,)), "Pity."]) as server:
        pointed(spy, server)
        open_host().turns.say("x")
    assert spy.kept == []
    assert "Not this." in server.requests[1].of("tool")[0]
    assert not screen.of("tool")[0].ok


def test_a_refused_call_is_told_to_the_model_and_to_the_person(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    refused = ToolCall("spy", {"action": "keep", "text": "refuse"})
    with ModelServer([Reply(calls=(refused,)), "Pity."]) as server:
        pointed(spy, server)
        open_host().turns.say("x")
    assert "It may not be kept." in server.requests[1].of("tool")[0]
    assert screen.of("tool")[0].data["reason"] == "rule"


def test_a_model_that_only_calls_tools_is_stopped(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer(lambda _: Reply(calls=(KEEP,))) as server:
        pointed(spy, server)
        open_host().turns.say("x")
    assert len(server.requests) == ROUNDS
    assert screen.events[-1].data["reason"] == "too_many_rounds"


def test_a_failing_provider_is_a_card_and_the_conversation_goes_on(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    with ModelServer([Failure(404, "no such model"), "Here."]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("one")
        host.turns.say("two")
    assert screen.kinds() == ["error", "reply"]
    assert "no such model" not in screen.events[0].card.text()
    assert spy.fired.count("agent_end") == 2
    assert messages(host.journal.branch()) == [("user", "one"), ("user", "two"), ("assistant", "Here.")]


def test_a_broken_stream_keeps_what_was_heard(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer([Reply("one two three four five", drop="midway"), "Whole."]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("x")
        host.turns.say("y")
    role, text = messages(host.journal.branch())[1]
    assert (role, text) == ("assistant", "".join(screen.streamed).removesuffix("Whole."))
    assert text
    assert screen.kinds() == ["error", "reply"]
    assert "broke off" in screen.events[0].card.title
    assert "address" not in screen.events[0].card.title


@pytest.mark.parametrize("status", [400, 500, 502])
def test_a_servers_own_words_are_told_with_its_status(
    open_host: Opener, spy: Spy, screen: RecordingScreen, status: int
) -> None:
    with ModelServer(lambda _: Failure(status, "the GPU is on fire \x1b[31m" + "x" * 999)) as server:
        pointed(spy, server)
        open_host().turns.say("hello")
    title = screen.events[0].card.title
    assert f"HTTP {status}" in title
    assert "the GPU is on fire x" in title
    assert len(title) < 300


def test_a_server_that_quotes_the_request_is_not_quoted(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer(lambda request: Failure(500, f"cannot parse {request.text}")) as server:
        pointed(spy, server)
        open_host().turns.say("the port is five thousand")
    title = screen.events[0].card.title
    assert "HTTP 500" in title
    assert "five thousand" not in title


def test_the_whole_card_comes_once_a_session_and_then_one_line(open_host: Opener, screen: RecordingScreen) -> None:
    host = open_host()
    host.turns.say("uno")
    host.turns.say("two")
    host.new()
    host.turns.say("three")
    first, second, third = (event.card.text() for event in screen.events)
    assert "uno" in first
    assert len(second.splitlines()) == 1
    assert "/model" in second
    assert third == first.replace("uno", "three")
    assert screen.events[1].data["injected"] == "SPY BLOCK\n\nabout two"


def test_what_would_be_injected_is_shown_without_fences_and_empty_lines() -> None:
    block = Block("mind", '<persona-mind-0a persona="x">\n## Long-term\n- [note] <b> port\n\n</persona-mind-0a>', 10)
    event = no_model([block, Block("two", "More.", 20)])
    assert event.card.detail[1:] == ("  ## Long-term", "  - [note] <b> port", "  More.")
    assert event.data["injected"] == f"{block.text}\n\nMore."


def test_a_person_sees_at_once_that_the_model_is_asked(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer([Reply(calls=(KEEP,)), "Saved."]) as server:
        pointed(spy, server)
        open_host().turns.say("keep the port")
    assert screen.waits == 2


def test_ctrl_c_keeps_the_log_and_settles_as_aborted(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    def interrupt(text: str) -> None:
        if "three" in text:
            raise KeyboardInterrupt

    screen.on_delta = interrupt
    with ModelServer(["one two three four", "Later."]) as server:
        pointed(spy, server)
        host = open_host()
        with pytest.raises(KeyboardInterrupt):
            host.turns.say("x")
        screen.on_delta = lambda _: None
        host.turns.say("y")
    assert [text for _, text in messages(host.journal.branch())] == ["x", "one two three", "y", "Later."]
    assert host.journal.branch()[1].data["aborted"] is True
    assert "agent_settled:True" in spy.fired
    assert server.requests[1].of("assistant") == ["one two three"]


def test_an_empty_reply_is_said(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer([""]) as server:
        pointed(spy, server)
        open_host().turns.say("x")
    assert [(event.kind, event.ok) for event in screen.events] == [("reply", False)]


def test_a_handled_input_reaches_no_model(open_host: Opener, spy: Spy, screen: RecordingScreen) -> None:
    with ModelServer() as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("handle me")
    assert not server.requests
    assert screen.events[0].card.title == "Handled."
    assert host.journal.leaf is None


def test_a_transformed_input_is_what_the_model_and_the_log_see(open_host: Opener, spy: Spy) -> None:
    with ModelServer(["ok"]) as server:
        pointed(spy, server)
        host = open_host()
        host.turns.say("change me")
    assert server.requests[0].of("user") == ["changed"]
    assert messages(host.journal.branch())[0] == ("user", "changed")


def test_an_entry_is_shown_as_it_arrives_and_before_the_reply(
    open_host: Opener, spy: Spy, screen: RecordingScreen
) -> None:
    with ModelServer(["ok"]) as server:
        pointed(spy, server)
        open_host().turns.say("card me")
    assert screen.kinds() == ["card", "reply"]
    assert screen.events[0].data["type"] == "spy-card"


def test_malformed_arguments_are_refused_and_can_be_sent_again(open_host: Opener, spy: Spy) -> None:
    with ModelServer([Reply(calls=(ToolCall("spy", ["no", "object"]),)), "Sorry."]) as server:  # type: ignore[arg-type]
        pointed(spy, server)
        open_host().turns.say("x")
    assert "not a JSON object" in server.requests[1].of("tool")[0]

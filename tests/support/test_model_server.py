"""The scripted model server, driven by the client library that the embedded host uses."""

from __future__ import annotations

import http.client
import json
import threading

import openai
import pytest

from tests.support.model_server import MODEL, Failure, ModelServer, Reply, ToolCall


def client(server: ModelServer) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.url, api_key="none", max_retries=0, timeout=10)


def ask(server: ModelServer, text: str = "hello") -> openai.types.chat.ChatCompletion:
    with client(server) as api:
        return api.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": text}])


def test_replies_come_in_the_order_of_the_script_and_requests_are_recorded() -> None:
    with ModelServer(["one", Reply("two", usage=(7, 3))]) as server:
        first, second = ask(server, "a"), ask(server, "b")
    assert [first.choices[0].message.content, second.choices[0].message.content] == ["one", "two"]
    assert second.usage is not None
    assert (second.usage.prompt_tokens, second.usage.completion_tokens) == (7, 3)
    assert [request.text for request in server.requests] == ["a", "b"]
    assert server.unexpected == 0


def test_a_request_beyond_the_script_is_an_error_and_is_counted() -> None:
    with ModelServer() as server, pytest.raises(openai.InternalServerError, match="no reply is left"):
        ask(server)
    assert server.unexpected == 1
    assert len(server.requests) == 1


def test_a_function_of_the_request_can_be_the_script() -> None:
    with ModelServer(lambda request: f"you said {request.of('user')[-1]}") as server:
        assert ask(server, "boo").choices[0].message.content == "you said boo"


def test_tool_calls_arrive_whole_with_and_without_streaming() -> None:
    arguments = {"action": "remember", "text": "café ☕ on port 5433"}
    reply = Reply("Saving.", calls=(ToolCall("memory", arguments), ToolCall("notes")))
    with ModelServer([reply, reply]) as server, client(server) as api:
        plain = ask(server).choices[0]
        assert plain.finish_reason == "tool_calls"
        called = [call for call in plain.message.tool_calls or () if call.type == "function"]
        assert [call.function.name for call in called] == ["memory", "notes"]
        with api.chat.completions.stream(
            model=MODEL, messages=[{"role": "user", "content": "x"}], stream_options={"include_usage": True}
        ) as stream:
            final = stream.get_final_completion()
    streamed = final.choices[0].message
    assert streamed.content == "Saving."
    calls = streamed.tool_calls or []
    assert [json.loads(call.function.arguments) for call in calls] == [arguments, {}]
    assert len({call.id for call in calls}) == 2
    assert final.usage is not None
    assert final.usage.total_tokens == 110


def test_an_http_error_reaches_the_client_with_its_status() -> None:
    with ModelServer([Failure(429, "slow down")]) as server, pytest.raises(openai.RateLimitError) as caught:
        ask(server)
    assert caught.value.status_code == 429


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("drop", ["before", "midway"])
def test_a_dropped_connection_breaks_the_answer(drop: str, stream: bool) -> None:  # noqa: FBT001 - a parameter
    with ModelServer([Reply("never whole", drop=drop)]) as server:  # type: ignore[arg-type]
        connection = http.client.HTTPConnection("127.0.0.1", int(server.url.split(":")[2].split("/")[0]))
        body = json.dumps({"model": MODEL, "messages": [], "stream": stream})
        connection.request("POST", "/v1/chat/completions", body)
        with pytest.raises((http.client.HTTPException, ConnectionError)):
            connection.getresponse().read()
        connection.close()


def test_closing_the_server_ends_an_answer_that_is_being_delayed() -> None:
    failed: list[Exception] = []

    def asking(server: ModelServer) -> None:
        try:
            ask(server)
        except openai.APIConnectionError as error:
            failed.append(error)

    with ModelServer([Reply("too late", delay=3600)]) as server:
        thread = threading.Thread(target=asking, args=(server,))
        thread.start()
        server.wait(1)
    thread.join(10)
    assert failed


def test_models_are_listed_and_unknown_paths_are_refused() -> None:
    with ModelServer() as server, client(server) as api:
        assert [model.id for model in api.models.list()] == [MODEL]
        with pytest.raises(openai.NotFoundError):
            api.embeddings.create(model=MODEL, input="x")
    assert server.requests == []

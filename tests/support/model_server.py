"""A scripted model behind a real HTTP server, so that tests run the client code people run.

The server speaks the OpenAI chat API on loopback: ``GET /v1/models`` and ``POST /v1/chat/completions``, plain
and streamed. What it answers is a script: a list of replies, used up in order, or a function of the request.

    with ModelServer([Reply(calls=(ToolCall("memory", {"action": "list"}),)), Reply("Done.")]) as model:
        ...                              # point a client at model.url
        assert "port 5433" in model.requests[0].text

A request for which the script has nothing is answered with an error and counted in ``unexpected``: a test can
say "no model was called", and a surplus call cannot pass unseen.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

MODEL = "scripted-1"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call of the model's; without an id it gets ``call_<request>_<place>``."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer of the model's.

    Attributes:
        text: What it says, before any tool call.
        calls: The tools it calls.
        delay: Seconds before the answer begins; cut short when the server is closed.
        drop: Close the connection instead: before any byte, or in the middle of the answer.
        usage: Input and output tokens, as the answer reports them.
    """

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    delay: float = 0.0
    drop: Literal["", "before", "midway"] = ""
    usage: tuple[int, int] = (100, 10)


@dataclass(frozen=True, slots=True)
class Failure:
    """An HTTP error in place of an answer."""

    status: int = 500
    message: str = "scripted failure"
    delay: float = 0.0


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it arrived.

    Attributes:
        path: The request's path.
        body: Its JSON body.
        headers: Its headers, names in lower case.
        at: When its head was read, on ``time.perf_counter``.
    """

    path: str
    body: Json
    headers: Mapping[str, str]
    at: float

    @property
    def messages(self) -> list[Json]:
        """The conversation as the model sees it."""
        return list(self.body.get("messages", ()))

    @property
    def text(self) -> str:
        """Every text of every message, one after the other."""
        return "\n".join(part for message in self.messages for part in texts(message))

    @property
    def tools(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]

    def of(self, role: str) -> list[str]:
        """Return the text of each message of one role."""
        return ["\n".join(texts(message)) for message in self.messages if message.get("role") == role]


Answer = Reply | Failure
Script = Sequence[Answer | str] | Callable[[Request], Answer | str]


def texts(message: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of a message, whether its content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and isinstance(part.get("text"), str):
            yield part["text"]


class ModelServer:
    """The server; a context manager that listens on a free port of 127.0.0.1 while it is open.

    Attributes:
        requests: Every completion request so far, in order of arrival.
        unexpected: How many requests the script had no answer for.
    """

    def __init__(self, script: Script = ()) -> None:
        self.requests: list[Request] = []
        self.unexpected = 0
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._script = script if callable(script) else _in_order(script)
        self._http = _Http(("127.0.0.1", 0), _Handler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """The API's base, as clients take it: ``http://127.0.0.1:<port>/v1``."""
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def wait(self, count: int, seconds: float = 20.0) -> list[Request]:
        """Return the requests once there are ``count``; raise ``TimeoutError`` if they do not come."""
        with self._arrived:
            if not self._arrived.wait_for(lambda: len(self.requests) >= count, seconds):
                raise TimeoutError(f"{len(self.requests)} of {count} model requests came within {seconds} s")
            return list(self.requests)

    def answer(self, request: Request) -> tuple[int, Answer]:
        """Record ``request``; return its number, from 1, and what the script says to it."""
        with self._arrived:
            self.requests.append(request)
            number = len(self.requests)
            self._arrived.notify_all()
            try:
                answer = self._script(request)
            except Exception as error:  # noqa: BLE001 - a script's own failure must reach the client as an answer
                self.unexpected += 1
                answer = Failure(500, f"the script failed: {type(error).__name__}: {error}")
        return number, Reply(answer) if isinstance(answer, str) else answer


def _in_order(replies: Sequence[Answer | str]) -> Callable[[Request], Answer | str]:
    left = iter(replies)

    def next_reply(_: Request) -> Answer | str:
        for reply in left:
            return reply
        raise LookupError("no reply is left")

    return next_reply


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client may keep its connection for longer than the test lasts
    model: ModelServer

    def handle_error(self, *_: object) -> None:
        """Stay silent: a client that hangs up is part of what is tested."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        """Keep the test's own output clean."""

    def do_GET(self) -> None:
        if self.path.rstrip("/") != "/v1/models":
            return self._error(404, "no such path")
        model = {"id": MODEL, "object": "model", "created": 0, "owned_by": "tests"}
        return self._json(200, {"object": "list", "data": [model]})

    def do_POST(self) -> None:
        at = time.perf_counter()
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            return self._error(404, "no such path")
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, json.loads(raw), headers, at)
        number, answer = self.server.model.answer(request)
        if answer.delay and self.server.model.closing.wait(answer.delay):
            return self._hang_up()
        if isinstance(answer, Failure):
            return self._error(answer.status, answer.message)
        if answer.drop == "before":
            return self._hang_up()
        if request.body.get("stream"):
            return self._stream(answer, _chunks(number, answer, request.body))
        return self._whole(answer, _completion(number, answer, request.body))

    def _whole(self, answer: Reply, body: Json) -> None:
        if answer.drop:
            self._head(200, "application/json", {"Content-Length": "100000"})
            self.wfile.write(b'{"id":')
            return self._hang_up()
        return self._json(200, body)

    def _stream(self, answer: Reply, chunks: list[Json]) -> None:
        self._head(200, "text/event-stream", {"Transfer-Encoding": "chunked"})
        events = [*(json.dumps(chunk) for chunk in chunks), "[DONE]"]
        for event in events[: len(events) // 2] if answer.drop else events:
            data = f"data: {event}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        if answer.drop:
            return self._hang_up()
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _error(self, status: int, message: str) -> None:
        self._json(status, {"error": {"message": message, "type": "scripted", "code": status}})

    def _json(self, status: int, body: Json) -> None:
        data = json.dumps(body).encode()
        self._head(status, "application/json", {"Content-Length": str(len(data))})
        self.wfile.write(data)

    def _head(self, status: int, kind: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _hang_up(self) -> None:
        self.wfile.flush()
        self.close_connection = True


def _tool_calls(number: int, answer: Reply) -> list[Json]:
    return [
        {
            "id": call.id or f"call_{number}_{place}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for place, call in enumerate(answer.calls)
    ]


def _usage(answer: Reply) -> Json:
    given, made = answer.usage
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _frame(number: int, kind: str, body: Json) -> Json:
    return {"id": f"chatcmpl-{number}", "object": kind, "created": 0, "model": body.get("model", MODEL)}


def _completion(number: int, answer: Reply, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": answer.text or None}
    if answer.calls:
        message["tool_calls"] = _tool_calls(number, answer)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
    return {**_frame(number, "chat.completion", body), "choices": [choice], "usage": _usage(answer)}


def _chunks(number: int, answer: Reply, body: Json) -> list[Json]:
    frame = _frame(number, "chat.completion.chunk", body)

    def chunk(delta: Json, finish: str | None = None) -> Json:
        return {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    words = answer.text.split(" ")
    pieces = [word if place == 0 else f" {word}" for place, word in enumerate(words)] if answer.text else []
    chunks = [chunk({"role": "assistant", "content": ""}), *(chunk({"content": piece}) for piece in pieces)]
    for place, call in enumerate(_tool_calls(number, answer)):
        arguments = call["function"].pop("arguments")
        chunks.append(chunk({"tool_calls": [{"index": place, **call}]}))
        # Split in the middle, as providers do: a client that parses too early is found out.
        halves = (arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :])
        chunks += [chunk({"tool_calls": [{"index": place, "function": {"arguments": h}}]}) for h in halves]
    chunks.append(chunk({}, "tool_calls" if answer.calls else "stop"))
    if (body.get("stream_options") or {}).get("include_usage"):
        chunks.append({**frame, "choices": [], "usage": _usage(answer)})
    return chunks

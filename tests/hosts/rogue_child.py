"""A child that speaks the protocol for one message and then misbehaves, as its argument says."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

GREETING = {"protocol": 1, "manifest": "", "tools": [], "hooks": ["input"], "renders": [], "failed": []}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def append_with_stale_guards(hello: dict[str, Any]) -> None:
    """Try to append with each part of the guard wrong in turn, then with a right one; write down what came of it."""
    own = {name: hello[name] for name in ("nonce", "generation", "sessionId")}
    wrong: list[dict[str, Any]] = [
        {"nonce": "x"},
        {"generation": 99},
        {"sessionId": "x"},
        {"leaf": "x"},
        {"foreign": {"companions": []}},
        {},
    ]
    said = []
    for number, part in enumerate(wrong):
        guard = {"guard": {**own, **part}, "customType": "rogue", "data": {"number": number}}
        say(json.dumps({"jsonrpc": "2.0", "id": number, "method": "session.append", "params": guard}) + "\n")
        answer = json.loads(sys.stdin.readline())
        said.append(answer.get("error", {}).get("data", {}).get("reason", "appended"))
    Path(os.environ["HOME"], "answers").write_text(json.dumps(said), encoding="utf-8")


def main(fault: str) -> None:
    hello = json.loads(sys.stdin.readline())
    if fault == "refuse":
        error = {"code": -32000, "message": "This release speaks protocol 9.", "data": {"reason": "protocol"}}
        answer = {"jsonrpc": "2.0", "id": hello["id"], "error": error}
    else:
        answer = {"jsonrpc": "2.0", "id": hello["id"], "result": GREETING}
    say(json.dumps(answer) + "\n")
    if fault == "stale":
        append_with_stale_guards(hello["params"])
    for _ in sys.stdin:
        if fault == "garbage":
            say("Traceback (most recent call last):\n" * 10)
        elif fault == "endless":
            while True:
                say("x" * 65536)


if __name__ == "__main__":
    main(sys.argv[1])

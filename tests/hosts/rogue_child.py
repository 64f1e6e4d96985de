"""A child that speaks the protocol for one message and then misbehaves, as its argument says."""

from __future__ import annotations

import json
import sys

GREETING = {"protocol": 1, "manifest": "", "tools": [], "hooks": ["input"], "renders": [], "failed": []}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def main(fault: str) -> None:
    hello = json.loads(sys.stdin.readline())
    if fault == "refuse":
        error = {"code": -32000, "message": "This release speaks protocol 9.", "data": {"reason": "protocol"}}
        answer = {"jsonrpc": "2.0", "id": hello["id"], "error": error}
    else:
        answer = {"jsonrpc": "2.0", "id": hello["id"], "result": GREETING}
    say(json.dumps(answer) + "\n")
    for _ in sys.stdin:
        if fault == "garbage":
            say("Traceback (most recent call last):\n" * 10)
        elif fault == "endless":
            while True:
                say("x" * 65536)


if __name__ == "__main__":
    main(sys.argv[1])

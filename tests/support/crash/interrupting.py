"""An interruption at every place where one can come: Python looks for signals after a call and where a loop turns."""

from __future__ import annotations

import dis
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

WHERE = ("persona_store", "filelock", "contextlib")
"""Parts of the paths of the files in which it comes."""
_LOOKED = frozenset({"CALL", "CALL_FUNCTION_EX", "CALL_KW", "RESUME", "JUMP_BACKWARD"})


def interrupted(work: Callable[[], object], stop: int) -> bool:
    """Do something and raise KeyboardInterrupt at one of these places, counted from 1; False past the last one."""
    passed = 0

    def trace(frame: FrameType, _event: str, _: object) -> Any:  # noqa: ANN401 - a trace function of its own kind
        # What is raised while an object is collected goes nowhere.
        if frame.f_code.co_name == "__del__" or not any(part in frame.f_code.co_filename for part in WHERE):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return _within(frame.f_code.co_code, reached)

    def reached() -> None:
        nonlocal passed
        passed += 1
        if passed == stop:
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def _within(code: bytes, reached: Callable[[], None]) -> Any:  # noqa: ANN401 - as above
    """Return what follows one frame, and tells behind each instruction after which signals are looked for."""
    last: int | None = None

    def follow(frame: FrameType, event: str, _: object) -> Any:  # noqa: ANN401 - as above
        nonlocal last
        if event == "opcode":
            looked, last = last is not None and dis.opname[code[last]] in _LOOKED, frame.f_lasti
            if looked:
                reached()
        return follow

    return follow

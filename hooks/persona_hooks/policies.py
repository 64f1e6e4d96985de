"""How each hook is dispatched: how long it may take, how results are combined, what a failure means."""

from __future__ import annotations

from typing import Literal, NamedTuple

Mode = Literal["notify", "collect", "chain", "first"]


class Policy(NamedTuple):
    """The policy of one hook.

    Attributes:
        budget: Seconds for the whole hook, all plugins together. Where plugins are asked one after the other, one that
            is not the last gets at most half of what remains, so that a hung one starves nobody.
        mode: ``notify`` tells every plugin and ignores what it returns. ``collect`` asks all plugins at once and keeps
            every result, in the plugins' order. ``chain`` hands each plugin the text as the one before left it.
            ``first`` stops at the first plugin that decides.
        closed: A plugin that raises, is late or is not asked counts as a veto. Otherwise the host goes on without it.
        vital: A plugin that fails here is taken out for good.
        keeps_late: What a late implementation returns is kept for ``Dispatcher.late``, since it speaks of something
            that was done. A late read is dropped.
    """

    budget: float
    mode: Mode = "notify"
    closed: bool = False
    vital: bool = False
    keeps_late: bool = True


POLICIES: dict[str, Policy] = {
    "register_verbs": Policy(5.0, vital=True, keeps_late=False),
    "register_renderers": Policy(5.0, vital=True, keeps_late=False),
    "session_start": Policy(2.0),
    "session_shutdown": Policy(2.0),
    "session_tree": Policy(1.0),
    "session_compact": Policy(1.0),
    "room_changed": Policy(1.0),
    "room_quiet": Policy(1.0),
    "room_archived": Policy(1.0),
    "input": Policy(0.3, "chain"),
    "message_start": Policy(0.3),
    "before_turn": Policy(30.0),
    "before_agent_start": Policy(0.75, "collect", keeps_late=False),
    "agent_start": Policy(0.3),
    "agent_end": Policy(0.3),
    "agent_settled": Policy(2.0),
    "message_end": Policy(0.3),
    "model_select": Policy(0.3),
    "tool_call": Policy(0.3, "first", closed=True, keeps_late=False),
    "tool_result": Policy(0.3, "chain", keeps_late=False),
}

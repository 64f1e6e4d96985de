"""Calling hooks: order, combination of results, time, failure."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from persona_hooks import hookimpl
from persona_hooks.cards import Card
from persona_hooks.dispatch import POLICIES, Dispatched, Dispatcher, Late, Policy
from persona_hooks.errors import BusyError, ConflictError, RefusedError, UncertainError
from persona_hooks.lanes import LoopLane
from persona_hooks.specs import Block, Continue, Handled, HookSpecs, ToolVerdict, Transform
from persona_hooks.turn import Turn
from persona_hooks.verbs import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT = 0.02
LONG = 3600.0
WAIT = 30.0


@pytest.fixture
def load() -> Iterator[Callable[..., Dispatcher]]:
    """Give a dispatcher with the given plugins, by name."""
    dispatchers: list[Dispatcher] = []

    def loaded(**plugins: object) -> Dispatcher:
        dispatcher = Dispatcher()
        dispatcher.load([(name, lambda plugin=plugin: plugin) for name, plugin in plugins.items()])
        dispatchers.append(dispatcher)
        return dispatcher

    yield loaded
    for dispatcher in dispatchers:
        dispatcher.close()


@pytest.fixture
def budget(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, float], None]:
    """Set a hook's budget."""

    def setting(hook: str, seconds: float) -> None:
        old = POLICIES[hook]
        policy = Policy(seconds, old.mode, closed=old.closed, vital=old.vital, keeps_late=old.keeps_late)
        monkeypatch.setitem(POLICIES, hook, policy)

    return setting


def ask(dispatcher: Dispatcher, text: str = "hello") -> Dispatched:
    return dispatcher.call("input", session=None, text=text, source="interactive")


def blocks(dispatcher: Dispatcher) -> Dispatched:
    return dispatcher.call("before_agent_start", session=None, prompt="p")


def tool(dispatcher: Dispatcher) -> Dispatched:
    return dispatcher.call("tool_call", session=None, tool="bash", call_id="1", arguments={}, parent_tool_call_id=None)


class Gate:
    """A plugin that hangs in ``input`` until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.go = threading.Event()
        self.left = threading.Event()
        self.result: Any = None
        self.heard: list[str] = []
        self.remaining: list[float | None] = []

    @hookimpl
    def input(self) -> object:
        self.entered.set()
        assert self.go.wait(WAIT)
        self.left.set()
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    @hookimpl
    def agent_start(self, turn: Turn) -> None:
        self.heard.append("agent_start")
        self.remaining.append(turn.remaining)


class Suffix:
    """A plugin that appends its letter to the text."""

    def __init__(self, letter: str, *requires: str) -> None:
        self.letter = letter
        self.requires = requires

    @hookimpl
    def input(self, text: str) -> Transform:
        return Transform(text + self.letter)

    @hookimpl
    def before_agent_start(self) -> list[Block]:
        return [Block(self.letter, self.letter)]

    @hookimpl
    def tool_result(self, text: str) -> str:
        return text + self.letter


def let_go(dispatcher: Dispatcher, gate: Gate) -> None:
    """Let the gate go and wait until its lane has done all that was waiting there."""
    gate.go.set()
    free = threading.Event()
    runner = next(item for item in dispatcher._runners if item.enrolled.implementations["input"])

    class Probe:
        def run(self) -> None:
            free.set()

        def end(self, value: object, error: BaseException | None) -> None: ...

    runner._lanes["input"].submit(Probe())
    assert free.wait(WAIT)


def test_every_hook_of_the_contract_has_a_policy() -> None:
    assert set(POLICIES) == {name for name in vars(HookSpecs) if not name.startswith("_")}


def test_plugins_are_called_by_name_where_nothing_is_required(load: Callable[..., Dispatcher]) -> None:
    assert ask(load(b=Suffix("b"), a=Suffix("a"), c=Suffix("c"))).handled == Transform("helloabc")


def test_a_required_plugin_comes_first(load: Callable[..., Dispatcher]) -> None:
    assert ask(load(a=Suffix("a", "c"), b=Suffix("b"), c=Suffix("c"))).handled == Transform("hellobca")


def test_collected_results_keep_the_plugins_order(load: Callable[..., Dispatcher]) -> None:
    result = blocks(load(a=Suffix("a", "b"), b=Suffix("b")))
    assert result.results == [[Block("b", "b")], [Block("a", "a")]]
    assert result.missed == ()


def test_each_plugin_sees_the_tool_result_as_the_one_before_left_it(load: Callable[..., Dispatcher]) -> None:
    dispatcher = load(a=Suffix("1"), b=Suffix("2"))
    result = dispatcher.call(
        "tool_result", session=None, tool="t", call_id="1", text="x", is_error=False, parent_tool_call_id=None
    )
    assert result.handled == "x12"


def test_the_first_plugin_that_handles_input_wins(load: Callable[..., Dispatcher]) -> None:
    asked: list[str] = []

    class Handler:
        @hookimpl
        def input(self, text: str) -> Handled:
            return Handled(Card(text))

    class Later:
        @hookimpl
        def input(self) -> None:
            asked.append("later")

    result = ask(load(a=Suffix("!"), b=Handler(), c=Later()))
    assert result.handled == Handled(Card("hello!"))
    assert asked == []


def test_input_goes_on_where_nobody_decides(load: Callable[..., Dispatcher]) -> None:
    class Silent:
        @hookimpl
        def input(self) -> None: ...

    assert ask(load()).handled == Continue()
    assert ask(load(a=Silent())).handled == Continue()


def test_an_exception_stops_nobody_else_and_is_shown(load: Callable[..., Dispatcher]) -> None:
    class Broken:
        @hookimpl
        def input(self) -> None:
            raise ValueError("the text of a memory")

    dispatcher = load(a=Broken(), b=Suffix("b"))
    result = ask(dispatcher)
    assert (result.handled, result.missed) == (Transform("hellob"), ("a",))
    state = dispatcher.states()[0]
    assert state.state == "loaded"
    assert "ValueError" in state.detail
    assert "memory" not in state.detail


def test_our_own_errors_are_quoted_for_doctor(load: Callable[..., Dispatcher]) -> None:
    class Broken:
        @hookimpl
        def input(self) -> None:
            raise RefusedError("The project is not trusted.")

    dispatcher = load(a=Broken())
    ask(dispatcher)
    assert "The project is not trusted." in dispatcher.states()[0].detail


def test_even_sys_exit_in_a_plugin_stays_there(load: Callable[..., Dispatcher]) -> None:
    class Quitter:
        @hookimpl
        def input(self) -> None:
            raise SystemExit(3)

    dispatcher = load(a=Quitter(), b=Suffix("b"))
    assert ask(dispatcher).handled == Transform("hellob")
    assert ask(dispatcher).handled == Transform("hellob")


def test_a_result_of_the_wrong_kind_is_dropped_and_shown(load: Callable[..., Dispatcher]) -> None:
    class Wrong:
        @hookimpl
        def before_agent_start(self) -> str:
            return "a bare text"

    dispatcher = load(a=Wrong(), b=Suffix("b"))
    result = blocks(dispatcher)
    assert (result.results, result.missed) == ([[Block("b", "b")]], ("a",))
    assert "str" in dispatcher.states()[0].detail


def test_the_first_veto_stops_a_tool(load: Callable[..., Dispatcher]) -> None:
    class Guard:
        @hookimpl
        def tool_call(self, tool: str) -> ToolVerdict | None:
            return ToolVerdict(f"no {tool}")

    assert tool(load(a=Guard())).handled == ToolVerdict("no bash")
    assert tool(load(a=Suffix("a"))).handled is None


@pytest.mark.parametrize("answer", ["raise", "nonsense", "hang"])
def test_a_tool_is_not_run_where_its_check_fails(
    answer: str, load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    go = threading.Event()

    class Guard:
        @hookimpl
        def tool_call(self) -> object:
            if answer == "raise":
                raise ValueError
            if answer == "hang":
                go.wait(WAIT)
            return "nonsense"

    budget("tool_call", SHORT if answer == "hang" else LONG)
    dispatcher = load(a=Guard())
    first, second = tool(dispatcher).handled, tool(dispatcher).handled
    go.set()
    assert isinstance(first, ToolVerdict)
    assert isinstance(second, ToolVerdict)
    assert "a could not check it" in first.reason


def test_a_hung_plugin_costs_its_budget_once(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    dispatcher = load(a=gate, b=Suffix("b"))
    assert ask(dispatcher).missed == ("a",)
    # With an hour to wait, only not waiting at all lets this test end.
    budget("input", LONG)
    again = ask(dispatcher)
    gate.go.set()
    assert (again.handled, again.missed) == (Transform("hellob"), ("a",))


def test_a_hung_plugin_leaves_time_for_those_that_follow(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", 0.2)
    gate = Gate()
    result = ask(load(a=gate, b=Suffix("b")))
    gate.go.set()
    assert result.handled == Transform("hellob")


def test_three_overruns_open_the_breaker_and_a_ping_closes_it(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    dispatcher = load(a=gate)
    for expected in ("loaded", "loaded", "slow"):
        ask(dispatcher)
        assert dispatcher.states()[0].state == expected
    let_go(dispatcher, gate)
    budget("input", LONG)
    assert dispatcher.states()[0].state == "loaded"
    assert ask(dispatcher).missed == ()


def test_after_a_ping_one_overrun_opens_the_breaker_again(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    dispatcher = load(a=gate)
    for _ in range(3):
        ask(dispatcher)
    let_go(dispatcher, gate)
    gate.go.clear()
    ask(dispatcher)
    assert dispatcher.states()[0].state == "slow"
    gate.go.set()


def test_an_answer_in_time_starts_the_count_anew(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    gate = Gate()
    dispatcher = load(a=gate)
    for _ in range(2):
        budget("input", SHORT)
        ask(dispatcher)
        ask(dispatcher)
        let_go(dispatcher, gate)
        budget("input", LONG)
        ask(dispatcher)
        gate.go.clear()
    gate.go.set()
    assert dispatcher.states()[0].state == "loaded"


def test_events_wait_for_an_overdue_plugin_and_keep_their_order(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    dispatcher = load(a=gate)
    ask(dispatcher)
    budget("agent_start", LONG)
    assert dispatcher.call("agent_start", session=None).missed == ("a",)
    assert gate.heard == []
    let_go(dispatcher, gate)
    assert gate.heard == ["agent_start"]
    assert gate.remaining == [None]


def test_events_for_a_plugin_that_never_comes_back_are_bounded_and_counted(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    dispatcher = load(a=gate)
    ask(dispatcher)
    for _ in range(100):
        dispatcher.call("agent_start", session=None)
    assert "37 notice(s) dropped" in dispatcher.states()[0].detail
    let_go(dispatcher, gate)
    assert len(gate.heard) == 63


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Handled(Card("saved")), [Late("a", "input", 7, Handled(Card("saved")))]),
        (None, []),
        (BusyError("locked"), []),
    ],
)
def test_what_was_done_late_is_reported_once(
    result: object, expected: list[Late], load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    gate.result = result
    dispatcher = load(a=gate)
    dispatcher.call("input", Turn(7), session=None, text="", source="rpc")
    let_go(dispatcher, gate)
    assert dispatcher.late() == expected
    assert dispatcher.late() == []


def test_a_late_error_that_may_have_changed_something_is_reported(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    budget("input", SHORT)
    gate = Gate()
    gate.result = UncertainError("The rename was not confirmed.")
    dispatcher = load(a=gate)
    ask(dispatcher)
    let_go(dispatcher, gate)
    assert [late.error for late in dispatcher.late()] == [gate.result]


def test_a_late_read_is_dropped(load: Callable[..., Dispatcher], budget: Callable[[str, float], None]) -> None:
    budget("before_agent_start", SHORT)
    go, gone = threading.Event(), threading.Event()

    class Slow:
        @hookimpl
        def before_agent_start(self) -> list[Block]:
            go.wait(WAIT)
            return [Block("late", "late")]

        @hookimpl
        def agent_start(self) -> None:
            gone.set()

    dispatcher = load(a=Slow())
    assert blocks(dispatcher).results == []
    dispatcher.call("agent_start", session=None)
    go.set()
    assert gone.wait(WAIT)
    assert dispatcher.late() == []


def test_what_a_replaced_session_was_told_does_not_reach_the_new_one(load: Callable[..., Dispatcher]) -> None:
    alive = [True]

    class Replacing:
        @hookimpl
        def input(self) -> Handled:
            alive[0] = False
            return Handled(Card("for the old session"))

    dispatcher = load(a=Replacing())
    turn = Turn(1, alive=lambda: alive[0])
    result = dispatcher.call("input", turn, session=None, text="", source="rpc")
    assert result.handled == Continue()
    assert [late.generation for late in dispatcher.late()] == [1]


def test_a_turn_says_how_long_and_whether_it_still_counts(load: Callable[..., Dispatcher]) -> None:
    turns: list[Turn] = []

    class Watch:
        @hookimpl
        def input(self, turn: Turn) -> None:
            turns.append(turn)

    dispatcher = load(a=Watch())
    dispatcher.call("input", Turn(4, alive=lambda: False), session=None, text="", source="rpc")
    assert turns[0].generation == 4
    assert turns[0].remaining is not None
    assert turns[0].remaining <= POLICIES["input"].budget
    with pytest.raises(ConflictError):
        turns[0].check()


def test_an_earlier_deadline_of_the_caller_counts(load: Callable[..., Dispatcher]) -> None:
    gate = Gate()
    dispatcher = load(a=gate)
    result = dispatcher.call("input", Turn(deadline=0.0), session=None, text="", source="rpc")
    gate.go.set()
    assert result.missed == ("a",)


def test_async_implementations_run_on_the_plugins_own_loop(load: Callable[..., Dispatcher]) -> None:
    threads: set[str] = set()

    class Async:
        def __init__(self) -> None:
            self.ticks = 0
            self.background: asyncio.Task[None] | None = None

        async def _tick(self) -> None:
            self.ticks += 1

        @hookimpl
        async def session_start(self) -> None:
            threads.add(threading.current_thread().name)
            self.background = asyncio.get_running_loop().create_task(self._tick())

        @hookimpl
        async def before_agent_start(self) -> list[Block]:
            threads.add(threading.current_thread().name)
            assert self.background is not None
            await self.background
            return [Block("ticks", str(self.ticks))]

        @hookimpl
        def agent_start(self) -> None:
            threads.add(threading.current_thread().name)

    dispatcher = load(a=Async())
    dispatcher.call("session_start", session=None)
    dispatcher.call("agent_start", session=None)
    assert blocks(dispatcher).results == [[Block("ticks", "1")]]
    assert threads == {"persona:a:loop", "persona:a"}


def test_a_hung_coroutine_is_cancelled_when_the_dispatcher_closes(
    load: Callable[..., Dispatcher], budget: Callable[[str, float], None]
) -> None:
    cancelled = threading.Event()

    class Hung:
        @hookimpl
        async def input(self) -> None:
            try:
                await asyncio.Event().wait()
            finally:
                cancelled.set()

    budget("input", SHORT)
    dispatcher = load(a=Hung())
    assert ask(dispatcher).missed == ("a",)
    dispatcher.close()
    assert cancelled.wait(WAIT)


@pytest.mark.parametrize("end", [asyncio.CancelledError, SystemExit, KeyboardInterrupt])
def test_a_coroutine_that_ends_itself_does_not_end_its_lane(
    end: type[BaseException], load: Callable[..., Dispatcher]
) -> None:
    class Ending:
        @hookimpl
        async def input(self) -> None:
            raise end

        @hookimpl
        async def before_agent_start(self) -> list[Block]:
            return [Block("a", "a")]

    dispatcher = load(a=Ending())
    assert ask(dispatcher).missed == ("a",)
    assert end.__name__ in dispatcher.states()[0].detail
    assert blocks(dispatcher).results == [[Block("a", "a")]]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_background_task_that_ends_the_loop_costs_one_loop_and_no_plugin(load: Callable[..., Dispatcher]) -> None:
    class Ending:
        def __init__(self) -> None:
            self.task: asyncio.Task[None] | None = None

        async def _end(self) -> None:
            raise SystemExit

        @hookimpl
        async def input(self) -> None:
            self.task = asyncio.get_running_loop().create_task(self._end())

        @hookimpl
        async def before_agent_start(self) -> list[Block]:
            return [Block("a", "a")]

    plugin = Ending()
    dispatcher = load(a=plugin)
    ask(dispatcher)
    lane = dispatcher._runners[0]._lanes["input"]
    assert isinstance(lane, LoopLane)
    assert lane._thread is not None
    lane._thread.join(WAIT)
    assert not lane._thread.is_alive()
    assert plugin.task is not None
    assert isinstance(plugin.task.exception(), SystemExit)
    assert blocks(dispatcher).results == [[Block("a", "a")]]


def test_a_coroutine_that_cancels_its_own_task_does_not_end_its_lane(load: Callable[..., Dispatcher]) -> None:
    class Ending:
        @hookimpl
        async def input(self) -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(0)

        @hookimpl
        async def before_agent_start(self) -> list[Block]:
            return [Block("a", "a")]

    dispatcher = load(a=Ending())
    assert ask(dispatcher).missed == ("a",)
    assert blocks(dispatcher).results == [[Block("a", "a")]]


def test_an_awaitable_from_a_plain_implementation_is_an_error(load: Callable[..., Dispatcher]) -> None:
    async def work() -> None: ...

    class Sneaky:
        @hookimpl
        def input(self) -> object:
            return work()

    dispatcher = load(a=Sneaky())
    assert ask(dispatcher).missed == ("a",)
    assert "TypeError" in dispatcher.states()[0].detail


def test_a_plugin_that_makes_the_host_call_it_again_does_not_wait_for_itself(load: Callable[..., Dispatcher]) -> None:
    class Nested:
        dispatcher: Dispatcher

        @hookimpl
        def input(self) -> Handled:
            inner = self.dispatcher.call("message_start", session=None, custom_type="x", text="y")
            return Handled(Card(f"missed {inner.missed}"))

        @hookimpl
        def message_start(self) -> None: ...

    plugin = Nested()
    plugin.dispatcher = load(a=plugin)
    assert ask(plugin.dispatcher).handled == Handled(Card("missed ()"))


def test_an_interrupted_caller_leaves_nothing_stuck(
    load: Callable[..., Dispatcher], monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate()
    dispatcher = load(a=gate)
    runner = dispatcher._runners[0]
    begin = runner.begin

    def interrupting(*args: Any, **options: Any) -> object:  # noqa: ANN401 - handed on
        job = begin(*args, **options)
        assert job is not None

        class Interrupted:
            def acquire(self, timeout: float) -> bool:  # noqa: ARG002 - the lock's signature
                raise KeyboardInterrupt

            def release(self) -> None: ...

        job.done = Interrupted()  # type: ignore[assignment]
        return job

    monkeypatch.setattr(runner, "begin", interrupting)
    with pytest.raises(KeyboardInterrupt):
        ask(dispatcher)
    monkeypatch.undo()
    let_go(dispatcher, gate)
    assert ask(dispatcher).missed == ()


def test_two_callers_at_once_both_get_their_answer(load: Callable[..., Dispatcher]) -> None:
    dispatcher = load(a=Suffix("a"), b=Suffix("b"))
    answers: list[object] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(ask(dispatcher, str(n)).handled)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(str(answer) for answer in answers) == [str(Transform(f"{n}ab")) for n in range(8)]


def test_an_unknown_hook_and_a_forgotten_argument_are_the_hosts_errors(load: Callable[..., Dispatcher]) -> None:
    dispatcher = load(a=Suffix("a"))
    with pytest.raises(LookupError):
        dispatcher.call("inptu", session=None)
    with pytest.raises(LookupError):
        dispatcher.call("input", session=None, source="rpc")


def test_a_closed_dispatcher_calls_nobody(load: Callable[..., Dispatcher]) -> None:
    dispatcher = load(a=Suffix("a"))
    dispatcher.close()
    assert ask(dispatcher).handled == Continue()


def test_no_thread_is_made_for_hooks_that_nobody_implements(load: Callable[..., Dispatcher]) -> None:
    before = threading.active_count()
    dispatcher = load(a=Suffix("a"))
    dispatcher.call("agent_start", session=None)
    assert threading.active_count() == before


class Registering:
    def __init__(self, *names: str, then: Exception | None = None) -> None:
        self.names, self.then = names, then

    @hookimpl
    def register_verbs(self, registry: Registry) -> None:
        from tests.hooks.sample import verb  # noqa: PLC0415 - only these tests need it

        for name in self.names:
            registry.add(verb(name))
        if self.then is not None:
            raise self.then


def test_a_plugin_that_fails_to_register_is_out_and_leaves_no_verb() -> None:
    released: list[str] = []
    dispatcher = Dispatcher(released=released.append)
    plugins = {"a": Registering("one.x"), "b": Registering("two.x", then=ValueError("broken")), "c": Suffix("c")}
    dispatcher.load([(name, lambda plugin=plugin: plugin) for name, plugin in plugins.items()])
    registry = Registry()
    dispatcher.call("register_verbs", registry=registry)
    assert [verb.name for verb in registry] == ["one.x"]
    assert {state.name: state.state for state in dispatcher.states()} == {"a": "loaded", "b": "failed", "c": "loaded"}
    assert released == ["b"]
    dispatcher.close()


def test_the_second_plugin_to_claim_a_verb_is_out_and_named(load: Callable[..., Dispatcher]) -> None:
    dispatcher = load(a=Registering("one.x"), b=Registering("two.x", "one.x"))
    registry = Registry()
    dispatcher.call("register_verbs", registry=registry)
    assert [verb.name for verb in registry] == ["one.x"]
    assert "'one.x'" in dispatcher.states()[1].detail
    assert "registered twice" in dispatcher.states()[1].detail

"""The Pi extension under every fault, in real Pi, with a sample plugin that misbehaves on request."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import TYPE_CHECKING

import pytest

from persona_host.adapters.pi.files import BUNDLE, manifest_text
from persona_host.headless import NoModels, StderrUi, SystemScheduler
from persona_host.runtime import Runtime, Setup
from tests.hosts import install, sample_child
from tests.support.model_server import ModelServer, Reply, ToolCall
from tests.support.pi import configure_model, gone, install_extension, pi_argv, pi_env
from tests.support.stdio_host import ROOT, interpreter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.pi import Pi
    from tests.support.pi_home import PiHome

TSCONFIG = """{"compilerOptions": {"target": "es2023", "lib": ["es2023", "dom"], "module": "nodenext", "strict": true,
"moduleResolution": "nodenext", "noEmit": true, "allowImportingTsExtensions": true, "noUncheckedIndexedAccess": true,
"exactOptionalPropertyTypes": true, "noUnusedLocals": true, "noUnusedParameters": true, "noImplicitReturns": true,
"verbatimModuleSyntax": true, "skipLibCheck": true, "types": ["node"]}, "include": ["*.ts"]}"""


def manifest(home: PiHome) -> str:
    setup = Setup("test", home.agent_dir, home.home, home.environ, plugins=sample_child.plugins)
    return manifest_text(Runtime.start(setup, ui=StderrUi(), models=NoModels(), scheduler=SystemScheduler()))


@pytest.fixture
def sample_home(pi_home: PiHome, model: ModelServer) -> PiHome:
    """A home whose Pi has the extension, with the sample plugin behind it."""
    wrapper = pi_home.home / "sample-python"
    child = f"exec {interpreter()} {ROOT / 'tests' / 'hosts' / 'sample_child.py'}"
    wrapper.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} SAMPLE_END="$HOME/end" {child}\n', encoding="utf-8")
    wrapper.chmod(0o755)
    configure_model(pi_home.agent_dir, model.url)
    install_extension(pi_home.agent_dir, python=wrapper, manifest=manifest(pi_home))
    return pi_home


@pytest.fixture
def pi(sample_home: PiHome) -> Iterator[Pi]:
    with sample_home.start() as pi:
        yield pi


def python_of(pi: Pi) -> int:
    pi.wait_for(lambda: True)
    (child,) = pi.children()
    return child


def test_the_extension_passes_the_type_checker_against_pis_own_types(pi_installed: None, tmp_path: Path) -> None:
    del pi_installed
    for path in [*BUNDLE.glob("*.ts"), BUNDLE / "package.json"]:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "tsconfig.json").write_text(TSCONFIG, encoding="utf-8")
    (tmp_path / "node_modules").symlink_to(install.folder() / "node_modules")
    argv = [str(install.node()), str(install.typescript()), "-p", str(tmp_path)]
    checked = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert checked.stdout == ""
    assert checked.returncode == 0


def test_the_block_is_in_every_request_and_nowhere_in_the_session_file(
    pi: Pi, model: ModelServer, sample_home: PiHome
) -> None:
    pi.say("keep ORCHID-7")
    pi.say("what now?")
    first, second = model.requests
    assert first.of("user")[-1].endswith("prompt=keep ORCHID-7\nkeep ORCHID-7")
    assert second.of("user")[-1] == "kept=ORCHID-7\n\nprompt=what now?\nwhat now?"
    assert second.of("user")[0] == "keep ORCHID-7"
    pi.quit()
    written = sample_home.session_text()
    assert "what now?" in written
    assert "prompt=what" not in written
    assert "kept=" not in written


def test_an_entry_is_on_the_branch_with_an_id_and_its_card_is_shown_but_not_kept(pi: Pi, sample_home: PiHome) -> None:
    pi.say("keep LILY-3")
    pi.wait_for(lambda: "Kept LILY-3" in pi.notices())
    (entry,) = [entry for entry in pi.entries() if entry.get("customType") == "sample-card"]
    assert entry["data"] == {"id": "LILY-3"}
    pi.quit()
    assert "Kept LILY-3" not in sample_home.session_text()


def test_a_tool_runs_in_python_and_the_model_reads_its_result(sample_home: PiHome) -> None:
    call = Reply(calls=(ToolCall("sample", {"action": "keep", "text": "ROSE-1"}),))
    with ModelServer([call, "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("please keep it")
        assert "sample" in model.requests[0].tools
        (result,) = model.requests[1].of("tool")
    assert result.endswith("durable=True")


def bash(command: str) -> Reply:
    return Reply(calls=(ToolCall("bash", {"command": command}),))


def test_plugins_see_pis_own_tools_and_may_change_what_the_model_reads(sample_home: PiHome) -> None:
    with ModelServer([bash("echo hush; echo there"), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("run it")
            pi.say("/sample seen")
            assert "call:bash:call_1_0:None" in pi.notices()[-1]
            assert "result:bash:call_1_0:False" in pi.notices()[-1]
        (result,) = model.requests[1].of("tool")
    assert result.strip() == "****\nthere"


def test_a_plugin_that_forbids_a_tool_is_obeyed(sample_home: PiHome) -> None:
    with ModelServer([bash("echo forbidden"), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("run it")
        (result,) = model.requests[1].of("tool")
    assert result == "Not this one."


def test_a_tool_that_nobody_can_check_any_more_is_not_run(sample_home: PiHome) -> None:
    made = sample_home.project / "made"
    with ModelServer([bash("hang"), bash(f"touch {made}"), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start(PERSONA_PATIENCE_MS="300") as pi:
            pi.say("/sample seen")  # a command waits for as long as it takes
            pi.say("run it")
        results = model.requests[2].of("tool")
    assert ["could not be checked" in result for result in results] == [True, True]
    assert not made.exists()


NESTING = """
export default function (pi) {
  pi.registerTool({
    name: "outer", label: "outer", description: "Calls another tool.", parameters: { type: "object", properties: {} },
    async execute(id, params, signal, onUpdate, ctx) {
      return ctx.executeTool("bash", { command: "echo inside" }, { signal });
    },
  });
}
"""


def test_a_nested_call_comes_with_the_call_that_it_is_nested_in(sample_home: PiHome) -> None:
    (sample_home.agent_dir / "extensions" / "nesting.ts").write_text(NESTING, encoding="utf-8")
    with ModelServer([Reply(calls=(ToolCall("outer", {}),)), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("nest")
            pi.say("/sample seen")
    assert "call:bash:call_1_0/1:call_1_0" in pi.notices()[-1]


def test_a_refusal_reaches_the_model_as_an_error(sample_home: PiHome) -> None:
    with ModelServer([Reply(calls=(ToolCall("sample", {"action": "keep"}),)), "done"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("please keep it")
            (ended,) = pi.of("tool_execution_end")
        (result,) = model.requests[1].of("tool")
    assert ended["isError"] is True
    assert "text" in result


def test_a_command_is_answered_without_a_model(pi: Pi, model: ModelServer) -> None:
    assert pi.say("/sample keep DAISY") == "handled"
    assert any(notice.startswith("e") or "durable=" in notice for notice in pi.notices())
    assert model.requests == []


def test_input_can_be_answered_or_changed_by_a_plugin(pi: Pi, model: ModelServer) -> None:
    assert pi.say("answer this") == "handled"
    assert "THIS" in pi.notices()
    pi.say("change into that")
    assert model.requests[0].of("user")[-1].endswith("\ninto that")


def test_events_and_usage_reach_python_in_order(pi: Pi) -> None:
    pi.say("one")
    pi.say("two")  # its input waits in line behind whatever was told of the first turn
    pi.say("/sample seen")
    assert pi.notices()[-1].startswith("agent_start assistant:100+10 agent_end")


def test_a_completion_uses_the_sessions_exact_model_and_offers_no_tools(sample_home: PiHome) -> None:
    with ModelServer(["forty-two"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("/sample ask what is it?")
            assert "forty-two" in pi.notices()
        (request,) = model.requests
    assert request.body["model"] == "scripted-1"
    assert request.tools == []
    assert request.of("user") == ["what is it?"]


def test_the_role_is_chosen_by_flag(sample_home: PiHome) -> None:
    with sample_home.start("--persona-role", "guest") as pi:
        pi.say("/sample role x")
        assert pi.notices()[-1] == "guest"


def test_a_fork_leaves_out_what_was_appended_after_it(pi: Pi) -> None:
    pi.say("one")
    pi.say("keep AFTER")
    (target,) = [item for item in pi.command("get_fork_messages")["messages"] if item["text"] == "one"]
    pi.command("fork", entryId=target["entryId"])
    assert [entry for entry in pi.entries() if entry.get("customType") == "sample-card"] == []


def test_a_new_session_gets_a_process_of_its_own(pi: Pi, model: ModelServer) -> None:
    pi.say("keep OLD")
    before = python_of(pi)
    pi.command("new_session")
    assert gone(before)
    pi.say("hello")
    assert "kept=\n" in model.requests[-1].of("user")[-1]
    assert python_of(pi) != before


def test_tools_leave_the_request_when_nobody_owns_the_session(pi: Pi, model: ModelServer) -> None:
    pi.say("one")
    pi.say("/sample off")
    pi.say("two")
    assert ["sample" in request.tools for request in model.requests] == [True, False]


def test_python_killed_in_mid_session_is_replaced_and_pi_goes_on(pi: Pi, model: ModelServer) -> None:
    pi.say("keep BEFORE")
    first = python_of(pi)
    os.kill(first, signal.SIGKILL)
    pi.say("still there?")
    assert gone(first)
    pi.say("/sample seen")
    pi.say("and now?")
    assert "kept=BEFORE" in model.requests[-1].of("user")[-1]
    assert python_of(pi) != first


def test_a_tool_that_kills_python_says_that_the_outcome_is_unknown(sample_home: PiHome) -> None:
    with ModelServer([Reply(calls=(ToolCall("sample", {"action": "fail", "text": "die"}),)), "ok"]) as model:
        configure_model(sample_home.agent_dir, model.url)
        with sample_home.start() as pi:
            pi.say("go")
        (result,) = model.requests[1].of("tool")
    assert "unknown" in result


def test_python_that_dies_again_and_again_is_left_alone_and_the_person_is_told_once(pi: Pi, model: ModelServer) -> None:
    for _ in range(3):
        pi.say("/sample seen")
        os.kill(python_of(pi), signal.SIGKILL)
        pi.say("next")
    pi.wait_for(lambda: any("Memory is off" in notice for notice in pi.notices()))
    pi.say("anyone?")
    assert "sample" not in model.requests[-1].tools
    pi.say("/sample seen")
    assert pi.notices()[-1].startswith("Memory is off: Python ended again and again")
    assert sum("Memory is off" in notice for notice in pi.notices()) == 2
    assert pi.children() == []


def test_a_hung_plugin_costs_no_more_than_its_budget_and_pi_goes_on(pi: Pi, model: ModelServer) -> None:
    pi.say("hang")
    pi.say("next")
    assert [request.of("user")[-1].splitlines()[-1] for request in model.requests] == ["hang", "next"]


def test_a_stopped_python_is_passed_over_killed_and_replaced(pi: Pi, model: ModelServer) -> None:
    pi.say("one")
    stopped = python_of(pi)
    pi.say("stop")
    pi.say("next")
    assert model.requests[-1].of("user")[-1] == "next"
    assert gone(stopped)  # it answers no ping, so it is killed; what the second turn costs is measured in benchmarks
    pi.say("/sample seen")
    pi.say("back?")
    assert "prompt=back?" in model.requests[-1].of("user")[-1]


def test_quit_while_python_is_stopped_leaves_no_orphan(pi: Pi) -> None:
    pi.say("one")
    child = python_of(pi)
    os.kill(child, signal.SIGSTOP)
    pi.quit()
    assert gone(child)


@pytest.mark.parametrize("how", ["quit", "SIGTERM", "SIGKILL"])
def test_no_orphan_is_left(pi: Pi, how: str, sample_home: PiHome) -> None:
    pi.say("one")
    child = python_of(pi)
    if how == "quit":
        assert pi.quit() == 0
    else:
        pi.process.send_signal(getattr(signal, how))
        pi.process.wait(20)
    assert gone(child)
    assert (sample_home.home / "end").read_text(encoding="utf-8") == "shut down"


def test_without_python_pi_works_and_commands_say_that_memory_is_off(pi_home: PiHome, model: ModelServer) -> None:
    configure_model(pi_home.agent_dir, model.url)
    install_extension(pi_home.agent_dir, python=None, manifest=manifest(pi_home))
    with pi_home.start() as pi:
        pi.say("hello")
        assert model.requests[0].of("user") == ["hello"]
        assert "sample" not in model.requests[0].tools
        assert pi.say("/sample seen") == "handled"
        assert "persona install pi" in pi.notices()[-1]
        assert len(model.requests) == 1


def test_a_python_without_the_package_is_reported_with_its_reason(pi_home: PiHome, model: ModelServer) -> None:
    bare = pi_home.home / "bare-python"
    bare.write_text("#!/bin/sh\necho 'No module named persona_host' >&2\nexit 1\n", encoding="utf-8")
    bare.chmod(0o755)
    configure_model(pi_home.agent_dir, model.url)
    install_extension(pi_home.agent_dir, python=bare, manifest=manifest(pi_home))
    with pi_home.start() as pi:
        pi.say("hello")
        pi.say("/sample seen")
        assert "No module named persona_host" in pi.notices()[-1]


def rogue(home: PiHome, model: ModelServer, fault: str) -> None:
    """Install the extension with a child that misbehaves."""
    wrapper = home.home / "rogue-python"
    script = ROOT / "tests" / "hosts" / "rogue_child.py"
    wrapper.write_text(f"#!/bin/sh\nexec {interpreter()} {script} {fault}\n", encoding="utf-8")
    wrapper.chmod(0o755)
    configure_model(home.agent_dir, model.url)
    install_extension(home.agent_dir, python=wrapper, manifest=manifest(home))


@pytest.mark.parametrize("fault", ["garbage", "endless"])
def test_a_child_that_floods_the_wire_is_ended_each_time_and_given_up(
    pi_home: PiHome, model: ModelServer, fault: str
) -> None:
    rogue(pi_home, model, fault)
    with pi_home.start() as pi:
        for number in range(3):
            pi.wait_for(lambda: True)
            pi.say(f"turn {number}")
            pi.say("/sample seen")
        pi.wait_for(lambda: any(notice.startswith("Memory is off: Python ended") for notice in pi.notices()))
        pi.say("still here?")
        assert pi.children() == []
    assert [request.of("user")[-1] for request in model.requests][-1] == "still here?"


def test_a_child_that_refuses_to_start_is_reported_in_its_own_words(pi_home: PiHome, model: ModelServer) -> None:
    rogue(pi_home, model, "refuse")
    with pi_home.start() as pi:
        pi.say("hello")
        assert pi.notices() == ["Memory is off: This release speaks protocol 9."]
        assert pi.children() == []


def test_an_interpreter_that_is_gone_is_reported(pi_home: PiHome, model: ModelServer) -> None:
    configure_model(pi_home.agent_dir, model.url)
    install_extension(pi_home.agent_dir, python=pi_home.home / "no-such-python", manifest=manifest(pi_home))
    with pi_home.start() as pi:
        pi.say("hello")
        assert "ENOENT" in pi.notices()[-1]
        assert "`persona doctor --host pi`" in pi.notices()[-1]
        assert pi.say("/sample seen") == "handled"


def test_an_old_manifest_is_noticed_and_what_python_says_counts(sample_home: PiHome, model: ModelServer) -> None:
    old = '{"version": 1, "hash": "old", "tools": [], "commands": [{"name": "sample", "description": "x"}]}'
    (sample_home.agent_dir / "extensions" / "persona-mind" / "manifest.json").write_text(old, encoding="utf-8")
    with sample_home.start() as pi:
        pi.say("hello")
        assert "sample" in model.requests[0].tools
        assert any("another release" in notice for notice in pi.notices())


def test_a_listing_that_starts_no_session_starts_no_python(sample_home: PiHome) -> None:
    argv = pi_argv("--list-models")
    env = pi_env(sample_home.environ, sample_home.agent_dir)
    subprocess.run(argv, env=env, cwd=sample_home.project, check=True, capture_output=True)
    assert not (sample_home.home / "end").exists()


def test_in_print_mode_answers_go_to_standard_error(sample_home: PiHome, model: ModelServer) -> None:
    env = pi_env(sample_home.environ, sample_home.agent_dir)
    argv = pi_argv("-p", "/sample keep IRIS")
    done = subprocess.run(argv, env=env, cwd=sample_home.project, check=True, capture_output=True, text=True)
    assert "durable=False" in done.stderr
    assert model.requests == []

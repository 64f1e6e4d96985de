from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from persona_hooks.messages import COMPANION, MEMORY_OWNER, SETTINGS_COLLECT, SettingsQuery, SettingsReply
from persona_mind.kernel.access import SWITCH
from tests.mind.test_facts import plant, row
from tests.mind.test_no_owner import companion, owner
from tests.support.desk import Desk, files_below, write_brief

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mind.conftest import Open, Start


@pytest.fixture
def desk(start: Start, project: Path) -> Desk:
    desk = start()
    desk.open(cwd=project)
    return desk


def test_the_snapshot_counts_and_shows_what_the_model_is_given(desk: Desk) -> None:
    for command in ("use tabs", "--scope shared use ruff", "--scope project tag deploys", "--scope stm it is broken"):
        assert desk.say(f"/mind remember {command}").ok
    answer = desk.say("/mind")
    counts = {name: answer.details[name] for name in ("long", "project", "working")}
    assert counts == {"long": 2, "project": 1, "working": 1}
    for text in ("use tabs", "use ruff", "tag deploys", "it is broken"):
        assert text in answer.text
        assert text not in str(answer.details)


def test_an_empty_snapshot_says_where_memory_would_be_and_creates_nothing(
    desk: Desk, profile: Path, home: Path
) -> None:
    before = files_below(home)
    answer = desk.say("/mind")
    assert "(empty)" in answer.text
    for told in (str(profile), "the model you configure", "/mind off"):
        assert told in answer.text
    assert files_below(home) == before
    desk.say("/mind remember use tabs")
    assert str(profile) not in desk.say("/mind").text


def test_looking_does_not_use_up_the_line_about_an_empty_memory(desk: Desk) -> None:
    desk.say("/mind")
    assert [block.name for block in desk.runtime.blocks("hello")] == ["mind-empty"]


def test_an_unknown_word_is_answered_with_the_commands_and_no_snapshot(desk: Desk) -> None:
    desk.say("/mind remember use tabs")
    for line in ("/mind frobnicate", "/mind doctor now"):
        answer = desk.say(line)
        assert answer.details["reason"] == "unknown_command"
        assert "doctor" in answer.text
        assert "use tabs" not in answer.text


def test_doctor_names_every_store_the_owner_and_the_project_and_shows_no_memory(
    desk: Desk, profile: Path, project: Path
) -> None:
    desk.say("/mind remember use tabs")
    answer = desk.say("/mind doctor")
    details = answer.details
    assert (details["root"], details["project"], details["persona" if "persona" in details else "segment"]) == (
        str(profile),
        str(project),
        "_default",
    )
    assert [(store["name"], store["state"]) for store in details["stores"]] == [
        ("long-term", "ok"),
        ("shared", "not created"),
        ("project", "not created"),
        ("short-term", "not created"),
        ("backlog", "not created"),
        ("quarantine", "not created"),
    ]
    assert "use tabs" not in answer.text + str(details)
    assert "mind.enabled" in answer.text


def test_doctor_reports_what_is_broken_and_repairs_nothing(desk: Desk, profile: Path) -> None:
    slug = desk.say("/mind doctor").details["slug"]
    plant(profile / "memory" / "stm" / f"{slug}.json", row("never ends"))
    broken = profile / "memory" / "ltm" / "_default.json"
    plant(broken)
    broken.write_text("{ torn")
    before = {path: path.read_bytes() for path in profile.rglob("*") if path.is_file()}
    answer = desk.say("/mind doctor")
    states = {store["name"]: store["state"] for store in answer.details["stores"]}
    assert (states["long-term"], states["short-term"]) == ("unusable", "invalid")
    assert len(answer.details["warnings"]) == 2
    assert {path: path.read_bytes() for path in profile.rglob("*") if path.is_file()} == before


def test_doctor_counts_rows_that_are_withheld(desk: Desk, profile: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    plant(profile / "memory" / "ltm" / "_default.json", row(f"the token is {secret}"), row("use tabs"))
    answer = desk.say("/mind doctor")
    assert answer.details["stores"][0]["withheld"] == 1
    assert secret not in answer.text + str(answer.details)


def test_doctor_says_that_home_is_no_project(start: Start, home: Path) -> None:
    desk = start()
    desk.open(cwd=home)
    assert "no project" in desk.say("/mind doctor").text


def test_off_stops_capture_injection_and_every_verb_but_doctor_and_on(desk: Desk, home: Path) -> None:
    desk.say("/mind remember use tabs")
    answer = desk.say("/mind off")
    assert (answer.changed, "mind.enabled" in answer.text, "settings.json" in answer.text) == ("yes", True, True)
    before = {path: (home / path).stat().st_mtime_ns for path in files_below(home)}
    desk.runtime.input("Remember that the port is 5433.")
    assert desk.runtime.blocks("tabs") == []
    desk.runtime.settled()
    for line in (
        "/mind",
        "/mind remember x",
        "/mind recall x",
        "/mind read abc",
        "/mind forget abc",
        "/mind promote abc",
    ):
        refused = desk.say(line)
        assert refused.details["reason"] == "memory_off"
        assert "/mind on" in refused.text
    assert desk.say("/mind doctor").ok
    assert {path: (home / path).stat().st_mtime_ns for path in files_below(home)} == before
    assert desk.say("/mind on").changed == "yes"
    assert desk.say("/mind recall tabs").details["count"] == 1


def test_switching_twice_changes_nothing(desk: Desk) -> None:
    assert [desk.say(line).changed for line in ("/mind on", "/mind off", "/mind off")] == ["no", "yes", "no"]


def test_the_switch_stands_in_the_sessions_log_and_holds_when_it_is_resumed(desk: Desk, project: Path) -> None:
    desk.say("/mind off")
    journal = desk.runtime.session.journal
    assert [dict(entry.data) for entry in journal.branch(SWITCH)] == [{"enabled": False}]
    desk.runtime.open(journal, session_id="s1", cwd=project, reason="resume")
    assert desk.say("/mind recall x").details["reason"] == "memory_off"


def test_the_card_of_the_switch_says_what_it_holds_for(start: Start, project: Path) -> None:
    desk = start()
    desk.open(cwd=project)
    for shared, where in ((False, "in this session"), (True, "for commands in this directory")):
        desk.open(f"s-{shared}", cwd=project, shared=shared)
        switched = desk.say("/mind off")
        assert where in switched.card.title
        assert ("--session" in switched.card.hint) is shared
        assert where in desk.say("/mind recall x").text


def test_while_memory_is_off_no_model_is_offered_it(desk: Desk) -> None:
    offered = [tool.name for tool in desk.runtime.tools("model")]
    assert {"memory", "backlog", "notes"} <= set(offered)
    desk.say("/mind off")
    assert desk.runtime.tools("model") == []
    desk.say("/mind on")
    assert [tool.name for tool in desk.runtime.tools("model")] == offered


def test_the_status_line_is_right_after_every_command(desk: Desk, agent_dir: Path) -> None:
    write_brief(agent_dir / "persona" / "personas", "kiri")
    statuses = desk.notices.statuses
    saved = desk.say("/mind remember use tabs").details["id"]
    assert statuses["mind"] == "mind 1L·0S · backlog 0"
    desk.say("/mind backlog add look at it")
    assert statuses["mind"] == "mind 1L·0S · backlog 1"
    desk.say("/persona use kiri")
    assert statuses["mind"] is None
    desk.say("/persona none")
    assert statuses["mind"] == "mind 1L·0S · backlog 1"
    desk.say("/mind off")
    assert statuses["mind"] is None
    desk.say("/mind on")
    desk.say(f"/mind forget {saved}")
    assert statuses["mind"] == "mind 0L·0S · backlog 1"


def test_the_switch_is_the_sessions_own(desk: Desk, project: Path) -> None:
    desk.say("/mind off")
    desk.open("s2", cwd=project)
    assert desk.say("/mind recall x").ok


def test_the_lasting_setting_turns_memory_off_and_the_session_may_turn_it_on(
    start: Start, project: Path, agent_dir: Path
) -> None:
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mind": {"enabled": False}}))
    desk = start()
    desk.open(cwd=project)
    assert desk.say("/mind recall x").details["reason"] == "memory_off"
    desk.say("/mind on")
    assert desk.say("/mind recall x").ok


@pytest.mark.parametrize(
    "said",
    [(), ("/mind off", "/mind on"), ("/mind off", "/mind on", "/mind on"), ("/mind off", "/mind on", "/mind off")],
)
@pytest.mark.parametrize("then", [(), ("/mind on",), ("/mind on", "/mind off")])
def test_who_turns_memory_off_for_good_has_turned_it_off_where_it_was_only_turned_on_again(
    start: Start, project: Path, agent_dir: Path, said: tuple[str, ...], then: tuple[str, ...]
) -> None:
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(parents=True)
    desk = start()
    journal = desk.open(cwd=project).journal
    for line in said:
        desk.say(line)
    settings.write_text(json.dumps({"mind": {"enabled": False}}))

    def resumed() -> bool:
        desk.runtime.open(journal, session_id="s1", cwd=project, reason="resume")
        return desk.say("/mind recall x").ok

    assert (resumed(), "this session: off" in desk.say("/mind doctor").text) == (False, True)
    for line in then:
        desk.say(line)
    assert resumed() is (then == ("/mind on",))
    settings.write_text(json.dumps({"mind": {"enabled": True}}))
    assert resumed() is ((*said, *then)[-1:] != ("/mind off",))


def test_an_entry_that_does_not_say_against_what_it_turned_memory_on_is_no_more_than_the_setting(
    start: Start, project: Path, agent_dir: Path
) -> None:
    desk = start()
    session = desk.open(cwd=project)
    session.journal.append(session.guard(), SWITCH, {"enabled": True})
    settings = agent_dir / "persona" / "settings.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mind": {"enabled": False}}))
    desk.runtime.open(session.journal, session_id="s1", cwd=project, reason="resume")
    assert desk.say("/mind recall x").details["reason"] == "memory_off"


def test_a_companion_that_answers_late_may_still_turn_memory_off(start: Start, project: Path) -> None:
    desk = start(companion=False)
    desk.client.provide(COMPANION, lambda _: companion())
    desk.client.provide(MEMORY_OWNER, lambda _: owner())
    desk.open(cwd=project)
    assert desk.say("/mind recall x").ok
    setting = {"key": "mind.enabled", "value": False, "source": "settings.json"}
    desk.client.provide(SETTINGS_COLLECT, lambda _: {"provider": "other", "settings": (setting,)})
    assert desk.say("/mind recall x").details["reason"] == "memory_off"


def test_the_mind_reports_its_effective_settings_once_it_took_them(start: Start, project: Path) -> None:
    desk = start(PI_PERSONA_MIND_CAPTURE="prompt")
    desk.open(cwd=project)
    desk.say("/mind doctor")
    replies = desk.client.ask(SettingsQuery(session_id="s1"), SettingsReply)
    (mine,) = [reply for reply in replies if reply.provider == "persona_mind"]
    found = {setting.key: (setting.value, setting.source) for setting in mine.settings}
    assert found["mind.capture"] == ("prompt", "PI_PERSONA_MIND_CAPTURE")
    assert found["mind.enabled"][0] is True


def test_what_one_host_remembers_another_finds(desk: Desk, opened: Open) -> None:
    desk.say("/mind remember use tabs")
    assert opened(None).recall("tabs").count == 1


@pytest.mark.parametrize("word", ["on", "off"])
def test_a_worker_does_not_switch_the_memory_of_whoever_launched_it(start: Start, project: Path, word: str) -> None:
    desk = start(PI_PERSONA_LEG="1")
    session = desk.open(cwd=project)
    before = session.journal.entries()
    assert not desk.say(f"/mind {word}").ok
    assert session.journal.entries() == before

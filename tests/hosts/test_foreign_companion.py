"""Another extension of Pi's says who speaks: then ours stands down, and memory is that companion's persona's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from persona_mind.kernel.entries import NOTE

if TYPE_CHECKING:
    from tests.support.model_server import ModelServer
    from tests.support.pi import Pi
    from tests.support.pi_home import PiHome

FACT = "The staging database listens on port 5433."
OTHER = """
const say = (pi, channel, reply) => pi.events.on(channel, (query) => query.respond(reply(query)));
export default function (pi) {
  let persona = "zoe";
  let ready = true;
  let asked = 0;
  const flips = () => (persona === "flip" ? `flip-${asked++}` : persona);
  const me = ({ sessionId }) => ({ provider: "other", sessionId });
  say(pi, "pi-persona:companion:v1", (query) => ({ ...me(query), contract: CONTRACT, release: "1" }));
  say(pi, "pi-persona:memory-owner:v1", (query) => ({ ...me(query), ready, persona: flips() }));
  pi.registerCommand("other", {
    description: "Change who speaks",
    handler: async (args) => {
      [persona, ready] = [args, args !== "nobody"];
      pi.events.emit("pi-persona:memory-owner-changed:v1", {});
    },
  });
}
"""


def with_others(home: PiHome, *, number: int = 1, contract: str = "1") -> PiHome:
    """Add extensions that are companions of their own."""
    for count in range(number):
        path = home.agent_dir / "extensions" / f"other-{count}.ts"
        path.write_text(OTHER.replace("CONTRACT", contract), encoding="utf-8")
    return home


def brief(home: PiHome, name: str) -> None:
    folder = home.agent_dir / "persona" / "personas"
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {name}\npersona: true\ndescription: tests\n---\nYou are {name}.\n"
    (folder / f"{name}.md").write_text(text, encoding="utf-8")


def kept(home: PiHome) -> dict[str, list[str]]:
    """Return what is on disk, by the persona that it is of."""
    folder = home.agent_dir / "persona-mind" / "memory" / "ltm"
    stored = {path.stem: json.loads(path.read_bytes())["entries"] for path in sorted(folder.glob("*.json"))}
    return {name: [entry["text"] for entry in entries] for name, entries in stored.items()}


def test_memory_is_the_other_companions_and_our_own_persona_is_silent(memory_home: PiHome, model: ModelServer) -> None:
    brief(memory_home, "ada")
    with with_others(memory_home).start("--persona", "ada") as pi:
        pi.say(f"/mind remember {FACT}")
        pi.say("Which port is it?")
        assert model.requests[0].of("user")[-1].endswith("Which port is it?")
        assert FACT in model.requests[0].text
        assert "You are ada" not in model.requests[0].text
        pi.say("/persona use ada")
        assert "Another companion decides" in pi.notices()[-1]
    assert kept(memory_home) == {"zoe": [FACT]}
    assert '"persona": "zoe"' in memory_home.session_text().replace('":"', '": "')


def test_who_speaks_is_asked_anew_with_each_event(memory_home: PiHome, model: ModelServer) -> None:
    with with_others(memory_home).start() as pi:
        pi.say("one")
        pi.say("/other yan")
        pi.say("/mind remember Yan keeps the orchid watered.")
        pi.say("/other nobody")
        pi.say("two")
        pi.say(f"/mind remember {FACT}")
        assert "finished starting" in pi.notices()[-1]
        pi.say("/other zoe")
        pi.say("three")
    assert kept(memory_home) == {"yan": ["Yan keeps the orchid watered."]}
    assert ["memory" in request.tools for request in model.requests] == [True, False, True]


@pytest.mark.parametrize(
    ("number", "contract", "why"), [(2, "1", "more than one companion"), (1, "9", "another contract")]
)
def test_others_that_cannot_be_relied_on_close_memory(
    memory_home: PiHome, model: ModelServer, number: int, contract: str, why: str
) -> None:
    with with_others(memory_home, number=number, contract=contract).start() as pi:
        pi.say(f"/mind remember {FACT}")
        assert why in pi.notices()[-1]
        pi.say("go on")
        assert model.requests[0].of("user") == ["go on"]
        assert "memory" not in model.requests[0].tools
    assert kept(memory_home) == {}


def test_an_owner_that_changes_before_an_entry_is_appended_stops_it(memory_home: PiHome) -> None:
    with with_others(memory_home).start() as pi:
        pi.say("one")
        pi.say("/mind note save The mast is red.")
        assert len(notes(pi)) == 1
        pi.say("/other flip")
        pi.say("/mind note save The hull is blue.")
        assert "Saved" not in pi.notices()[-1]
        assert len(notes(pi)) == 1


def notes(pi: Pi) -> list[object]:
    return [entry for entry in pi.entries() if entry.get("customType") == NOTE]

"""Recall over long conversations: ``python -m benchmarks.locomo --data FILE [--vectors MODEL] [--peers]``.

FILE is a list of conversations in LoCoMo's terms: ``turns`` (id, session, time, speaker, text, caption of a shared
photo) and ``questions`` (id, category, question, evidence: the turns that hold the answer). LoCoMo's own licence keeps
it out of this project. The answers are used by nothing but the measures.

With vectors, cues are measured too: what somebody once told is put among the turns of each conversation, and a remark
that shares no word with it has to find it among the first ten, by the same call that serves questions.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import peers
from benchmarks.retrieval import APART, Question, sessions_hit, table
from persona_mind.meaning.service import Meaning
from persona_mind.meaning.worker import ENDING
from persona_mind.recall.embed import load
from persona_mind.sessions.model import Turn
from persona_mind.sessions.ranking import Ranking
from persona_store.transaction import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from persona_mind.recall.embed import Embedder

MOST = 20
"""Hits asked for in one call; ten are judged, the others tell which five sessions come first."""
PATIENCE = 3_600.0
"""Seconds for which vectors are waited for, once."""
CUES = Path(__file__).with_name("cues.json")


@dataclass(frozen=True)
class Conversation:
    """The turns of a conversation, and the questions about it."""

    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]

    @property
    def session_of(self) -> Mapping[str, str]:
        """The session of each turn."""
        return {turn.key: turn.session for turn in self.turns}


def read(path: Path) -> list[Conversation]:
    """Read the conversations of a file."""
    return [
        Conversation(
            made["id"],
            [_turn(turn, place) for place, turn in enumerate(made["turns"])],
            [
                Question(asked["id"], asked["question"], asked["category"], frozenset(asked["evidence"]))
                for asked in made["questions"]
            ],
        )
        for made in json.loads(path.read_text(encoding="utf-8"))
    ]


def _turn(turn: Mapping[str, str], place: int) -> Turn:
    shared = f" [shares a photo: {turn['caption']}]" if turn.get("caption") else ""
    at = datetime.strptime(turn["time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).timestamp()
    return Turn(turn["id"], str(turn["session"]), turn["id"], turn["text"] + shared, place, at, speaker=turn["speaker"])


def indexed(turns: Sequence[Turn], meaning: Meaning | None) -> Ranking:
    """Return session recall over a conversation, everything read."""
    ranking = Ranking(meaning=lambda: meaning)
    ranking.sync(turns)
    if meaning is not None:
        ready(meaning)
        ranking.prepare()
        ready(meaning)
    return ranking


def ready(meaning: Meaning) -> None:
    """Wait until a model is loaded, and everything wanted is read and kept."""
    if not meaning.finish(PATIENCE):
        raise SystemExit(meaning.examine(0).trouble or "The model took too long.")


def recalled(ranking: Ranking, query: str) -> list[str]:
    """Rank the turns for a question or a cue: the one call that everything here is measured by."""
    found = ranking.rank(query, MOST)
    # On a busy machine a question's vector may come too late for a person. What is measured here is the order.
    while ranking.compared is not None and ranking.compared.state == "late":
        time.sleep(0.01)
        found = ranking.rank(query, MOST)
    return [turn.key for turn, _ in found]


def ours(conversations: Sequence[Conversation], meaning: Meaning | None) -> dict[str, list[str]]:
    """Rank every question, and print the measures."""
    rankings: dict[str, list[str]] = {}
    took, hits = [], []
    for conversation in conversations:
        ranking = indexed(conversation.turns, meaning)
        for question in conversation.questions:
            started = time.perf_counter()
            rankings[question.key] = recalled(ranking, question.text)
            took.append(time.perf_counter() - started)
            hits.append(sessions_hit(rankings[question.key], conversation.session_of, question.evidence))
    _report(f"persona-mind{' with vectors' if meaning else ''}", conversations, rankings, took)
    print(f"session hit@5  n={len(hits):4d} {100 * sum(hits) / len(hits):.1f}")
    _each(conversations, rankings)
    return rankings


def _report(
    name: str, conversations: Sequence[Conversation], rankings: Mapping[str, Sequence[str]], took: Sequence[float]
) -> None:
    print(f"\n{name}: p50 {1000 * statistics.median(took):.2f} ms a question")
    print(table([question for conversation in conversations for question in conversation.questions], rankings))


def _each(conversations: Sequence[Conversation], rankings: Mapping[str, Sequence[str]]) -> None:
    """Print the figures of each conversation, which tell how far one may differ from the rest."""
    for conversation in conversations:
        asked = [question for question in conversation.questions if question.category != APART]
        line = table(asked, rankings).splitlines()[0]
        print(f"  {conversation.name:12s} {line[15:]}")


def cues(conversations: Sequence[Conversation], meaning: Meaning) -> None:
    """Print how many cues find what was told, each pair alone among the turns of each conversation."""
    halves: Mapping[str, Sequence[Sequence[str]]] = json.loads(CUES.read_text(encoding="utf-8"))
    found: dict[str, list[bool]] = {name: [] for name in halves}
    for conversation in conversations:
        ranking = indexed(conversation.turns, meaning)
        for name, pairs in halves.items():
            for number, (told, cue) in enumerate(pairs):
                place = conversation.turns[number * len(conversation.turns) // len(pairs)]
                ranking.sync([*conversation.turns, replace(place, key="told", text=told)])
                found[name].append("told" in recalled(ranking, cue)[:10])
    print("\ncues that share no word with what they should recall: found among the first 10")
    everything = [one for half in found.values() for one in half]
    for name, seen in (*found.items(), ("all", everything)):
        print(f"  {name:12s} n={len(seen):4d} {100 * sum(seen) / len(seen):.1f}")


def _peers(conversations: Sequence[Conversation], embedder: Embedder | None) -> None:
    for name, maker in peers.MAKERS.items():
        try:
            make = maker(embedder)
        except peers.CannotRunError as error:
            print(f"\n{name}: cannot run: {error}")
            continue
        rankings: dict[str, list[str]] = {}
        took = []
        for conversation in conversations:
            texts = {turn.key: f"{turn.speaker}: {turn.text}" for turn in conversation.turns}
            with make(texts) as search:
                for question in conversation.questions:
                    started = time.perf_counter()
                    rankings[question.key] = search(question.text, MOST)
                    took.append(time.perf_counter() - started)
        _report(name, conversations, rankings, took)


def _by_meaning(conversations: Sequence[Conversation], model: str) -> None:
    """Rank every question and find every cue with a model, as the product does: read once, kept on disk."""
    with tempfile.TemporaryDirectory() as place:
        meaning = Meaning(model, Profile(Path(place), lambda: datetime.now(UTC)))
        try:
            ours(conversations, meaning)
            cues(conversations, meaning)
            late = meaning.examine(0).late
        finally:
            meaning.close(ENDING)
    if late:
        print(f"{late} times a person would have been answered by words alone, since this machine was too busy")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.locomo", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the conversations")
    parser.add_argument(
        "--vectors", metavar="MODEL", help="a folder with model.onnx and tokenizer.json, or a fastembed name"
    )
    parser.add_argument("--peers", action="store_true", help="measure others too, each where installed")
    given = parser.parse_args(arguments)
    conversations = read(given.data)
    model = None if given.vectors is None else located(given.vectors)
    ours(conversations, None)
    if model:
        _by_meaning(conversations, model)
    if given.peers:
        _peers(conversations, load(model) if model else None)


def located(model: str) -> str:
    """Return a model that was named on a command line as a setting names it."""
    return str(Path(model).absolute()) if Path(model).expanduser().is_dir() and not model.startswith("~") else model


if __name__ == "__main__":
    main()

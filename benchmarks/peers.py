"""Other memories, measured by the same questions, each where it is installed (``pip install --group peers``).

A maker takes the texts of one conversation by key and yields a search. Vectors come from the same model as ours.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from persona_mind.recall.language import FUNCTION_WORDS

if TYPE_CHECKING:
    from persona_mind.recall.embed import Embedder

Search = Callable[[str, int], list[str]]
Maker = Callable[[Mapping[str, str]], AbstractContextManager[Search]]


class CannotRunError(Exception):
    """Another memory cannot run here; the message says why."""


def _need(*modules: str) -> None:
    for module in modules:
        try:
            there = find_spec(module) is not None
        except ModuleNotFoundError:
            there = False
        if not there:
            raise CannotRunError(f"{module} is not installed")


def _vectors(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise CannotRunError("it searches by vectors only, and no model was given (--vectors)")
    return embedder


def bm25s(_: Embedder | None) -> Maker:
    """Keyword search: bm25s with Porter stems, function words stopped, k1 1.2, b 0.75."""
    _need("bm25s", "Stemmer")
    import bm25s as library  # noqa: PLC0415 - optional
    import Stemmer  # noqa: PLC0415 - optional

    def terms(texts: list[str]) -> Any:  # noqa: ANN401 - the library's own type
        return library.tokenize(
            texts, stopwords=sorted(FUNCTION_WORDS["english"]), stemmer=Stemmer.Stemmer("porter"), show_progress=False
        )

    @contextmanager
    def make(texts: Mapping[str, str]) -> Iterator[Search]:
        keys = list(texts)
        index = library.BM25(k1=1.2, b=0.75)
        index.index(terms(list(texts.values())), show_progress=False)

        def search(query: str, k: int) -> list[str]:
            places, _ = index.retrieve(terms([query]), k=min(k, len(keys)), show_progress=False)
            return [keys[place] for place in places[0]]

        yield search

    return make


def mem0(given: Embedder | None) -> Maker:
    """mem0 with ``infer=False`` (no model rewrites what is stored) over a local qdrant."""
    embedder = _vectors(given)
    _need("mem0", "qdrant_client", "langchain")
    os.environ.setdefault("MEM0_TELEMETRY", "False")
    from langchain_core.embeddings import Embeddings  # noqa: PLC0415 - optional
    from mem0 import Memory  # noqa: PLC0415 - optional

    class Ours(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [[float(x) for x in row] for row in embedder.embed(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    width = len(embedder.embed(["width"])[0])

    @contextmanager
    def make(texts: Mapping[str, str]) -> Iterator[Search]:
        with tempfile.TemporaryDirectory() as folder:
            store = {"path": str(Path(folder, "qdrant")), "embedding_model_dims": width, "on_disk": False}
            config = {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "langchain", "config": {"model": Ours()}},
                "llm": {"provider": "openai", "config": {"api_key": "unused"}},
                "history_db_path": ":memory:",
            }
            memory = Memory.from_config(config)
            for key, text in texts.items():
                memory.add(text, user_id="u", metadata={"key": key}, infer=False)

            def search(query: str, k: int) -> list[str]:
                found = memory.search(query, filters={"user_id": "u"}, top_k=k)
                return [row["metadata"]["key"] for row in found["results"]]

            yield search

    return make


def sqlite_store(given: Embedder | None) -> Maker:
    """LangGraph's SqliteStore over sqlite-vec."""
    embedder = _vectors(given)
    _need("langgraph.store.sqlite", "sqlite_vec")
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        raise CannotRunError("this Python's sqlite3 loads no extensions, and sqlite-vec is one")
    from langgraph.store.sqlite import SqliteStore  # noqa: PLC0415 - optional

    def embed(texts: list[str]) -> list[list[float]]:
        return [[float(x) for x in row] for row in embedder.embed(texts)]

    @contextmanager
    def make(texts: Mapping[str, str]) -> Iterator[Search]:
        width = len(embed(["width"])[0])
        with SqliteStore.from_conn_string(
            ":memory:", index={"dims": width, "embed": embed, "fields": ["text"]}
        ) as store:
            store.setup()
            for key, text in texts.items():
                store.put(("turns",), key, {"text": text})
            yield lambda query, k: [row.key for row in store.search(("turns",), query=query, limit=k)]

    return make


MAKERS: Mapping[str, Callable[[Embedder | None], Maker]] = {
    "bm25s": bm25s,
    "mem0": mem0,
    "LangGraph SqliteStore": sqlite_store,
}

"""A sentence transformer as an ONNX file, run by onnxruntime on the processor."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime
import tokenizers

from persona_hooks.errors import CorruptError, NotFoundError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

TOKENS = 256
"""Tokens of a text that are read; what follows is left out of its vector."""
BATCH = 32
"""Texts that go through the model together."""
_END = 65_536


class OnnxModel:
    """A model whose vector of a text is the mean over its tokens, or comes out of the model ready.

    Args:
        folder: Holds ``tokenizer.json``, and ``model.onnx`` itself or in a folder ``onnx``.
    """

    def __init__(self, folder: Path) -> None:
        nested = folder / "onnx" / "model.onnx"
        model = nested if nested.is_file() else folder / "model.onnx"
        vocabulary = folder / "tokenizer.json"
        for path in (model, vocabulary):
            if not path.is_file():
                message = phrase("There is no {name} in {folder}.", name=path.name, folder=folder)
                raise NotFoundError(message, reason="model_missing", path=str(path))
        self.name = fingerprint(model, vocabulary, beside=_beside(model, vocabulary))
        self._tokenizer = _tokenizer(vocabulary)
        self._session = _session(model)
        self._inputs = [given.name for given in self._session.get_inputs()]
        self._path = str(model)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length for each text; texts of like length go through the model together."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        batches = [order[start : start + BATCH] for start in range(0, len(order), BATCH)]
        rows = np.concatenate([self._run([texts[at] for at in batch]) for batch in batches])
        back = np.empty(len(order), np.int64)
        back[order] = np.arange(len(order))
        return rows[back]

    def _run(self, texts: list[str]) -> NDArray[np.float32]:
        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            rows = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        except Exception as error:  # its errors share no public base
            raise CorruptError(phrase("{path} makes no vectors of texts.", path=self._path), path=self._path) from error
        if rows.ndim == 3:
            rows = (rows * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return unit(rows)


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Scale rows to unit length."""
    with np.errstate(over="ignore", invalid="ignore"):  # a row that overflowed stays no vector
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)


def _tokenizer(path: Path) -> tokenizers.Tokenizer:
    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:  # it raises nothing narrower
        raise CorruptError(phrase("{path} is not a tokenizer.", path=path), path=str(path)) from error
    tokenizer.enable_truncation(TOKENS)
    tokenizer.enable_padding()
    return tokenizer


def _session(path: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    # Threads that wait busily for the next text would burn a processor of the host between two questions.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # its errors share no public base
        raise CorruptError(phrase("{path} is not an ONNX model.", path=path), path=str(path)) from error


def _beside(*paths: Path) -> list[Path]:
    """Return the other files in a model's folders: a large model keeps its weights apart, under any name."""
    found = {path for folder in {path.parent for path in paths} for path in folder.iterdir() if path.is_file()}
    return sorted(path for path in found.difference(paths) if not path.name.startswith("."))


def fingerprint(*paths: Path, beside: Iterable[Path] = ()) -> str:
    """Tell models apart by the sizes and both ends of their files; reading all of them at each start is dear.

    Args:
        paths: The files.
        beside: Others that count by name, size and time of change.
    """
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "big"))
        with path.open("rb") as file:
            digest.update(file.read(_END))
            file.seek(max(0, size - _END))
            digest.update(file.read(_END))
    for path in beside:
        status = path.stat()
        digest.update(f"{path.name}/{status.st_size}/{status.st_mtime_ns}\n".encode("utf-8", "surrogatepass"))
    return f"onnx:{digest.hexdigest()[:32]}"

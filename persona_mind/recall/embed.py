"""Sentence vectors from a model on this machine: an ONNX file with its tokenizer, or one that fastembed knows.

Needs the extra ``embeddings``; nothing here is imported, and nothing downloaded, unless a model is configured.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from persona_hooks.errors import CorruptError, NotFoundError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

TOKENS = 256
"""Tokens of a text that are read; what follows is left out of its vector."""
BATCH = 32
"""Texts that go through the model together."""
_ENDS = 65_536


class Embedder(Protocol):
    """Turns texts into vectors of one length each, so that likeness is the inner product.

    Attributes:
        name: Tells this model from every other; vectors of different names are never compared.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row of unit length for each text."""
        ...


def load(source: str) -> Embedder:
    """Return the model at a path (a folder with ``model.onnx`` and ``tokenizer.json``) or of a fastembed name.

    Raises:
        NotFoundError: There is no model at that path, or a package of the extra is not installed.
        CorruptError: The model or its tokenizer cannot be read.
    """
    folder = Path(source).expanduser()
    if folder.is_dir():
        return OnnxEmbedder(folder)
    if folder.is_absolute() or source.startswith((".", "~")):
        raise NotFoundError(f"No embedding model at {source}.", reason="model_missing", path=source)
    return FastembedEmbedder(source)


class OnnxEmbedder:
    """A sentence transformer as an ONNX file, pooled by the mean of its tokens.

    Args:
        folder: Holds ``tokenizer.json`` and ``model.onnx``, the latter also in a folder ``onnx``.
    """

    def __init__(self, folder: Path) -> None:
        model = next((path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None)
        vocabulary = folder / "tokenizer.json"
        for path in (model, vocabulary):
            if path is None or not path.is_file():
                name = "model.onnx" if path is None else path.name
                raise NotFoundError(f"No {name} in {folder}.", reason="model_missing", path=str(folder / name))
        assert model is not None
        self.name = _fingerprint(model, vocabulary)
        self._session, self._tokenizer = _open(model, vocabulary)
        self._inputs = [given.name for given in self._session.get_inputs()]

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row of unit length for each text; texts of like length go through the model together."""
        import numpy as np

        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        rows: dict[int, Matrix] = {}
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows.update(zip(batch, self._run([texts[at] for at in batch]), strict=True))
        if not rows:
            return np.zeros((0, 0), np.float32)
        return np.stack([rows[at] for at in range(len(texts))])

    def _run(self, texts: Sequence[str]) -> Iterator[Matrix]:
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        out = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if out.ndim == 3:
            out = (out * mask[:, :, None]).sum(axis=1) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
        return iter(_unit(out))


class FastembedEmbedder:
    """A model that fastembed knows by name; fastembed keeps it, and downloads it once when it has not got it.

    Args:
        model: Such as ``BAAI/bge-small-en-v1.5``.
        folder: The model's files, when they are here already; then nothing is downloaded.
    """

    def __init__(self, model: str, folder: Path | None = None) -> None:
        try:
            from fastembed import TextEmbedding
        except ImportError as error:
            raise _missing("fastembed") from error
        try:
            self._model = TextEmbedding(model, specific_model_path=None if folder is None else str(folder))
        except (OSError, ValueError, RuntimeError) as error:
            raise NotFoundError(
                f"fastembed cannot provide the model {model}.", reason="model_missing", field="model", model=model
            ) from error
        self.name = f"fastembed:{model}"

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Return one row of unit length for each text."""
        import numpy as np

        rows = list(self._model.embed(list(texts)))
        return _unit(np.stack(rows)) if rows else np.zeros((0, 0), np.float32)


def _unit(rows: Any) -> Matrix:  # noqa: ANN401  what a model returns
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), np.float32)


def _open(model: Path, vocabulary: Path) -> tuple[Any, Any]:
    try:
        import onnxruntime
        from tokenizers import Tokenizer
    except ImportError as error:
        raise _missing("onnxruntime") from error
    try:
        tokenizer = Tokenizer.from_file(str(vocabulary))
    except Exception as error:  # tokenizers raises nothing narrower
        raise CorruptError(f"{vocabulary} is not a tokenizer.", path=str(vocabulary)) from error
    tokenizer.enable_truncation(TOKENS)
    tokenizer.enable_padding()
    try:
        return onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"]), tokenizer
    except Exception as error:  # onnxruntime's errors share no public base
        raise CorruptError(f"{model} is not an ONNX model.", path=str(model)) from error


def _missing(package: str) -> NotFoundError:
    return NotFoundError(
        f'Vectors need the package {package}: pip install "persona-mind[embeddings]".',
        reason="extra_missing",
        package=package,
    )


def _fingerprint(*paths: Path) -> str:
    """Tell files apart by their sizes and both their ends; reading ninety megabytes at each start would be dear."""
    digest = hashlib.sha256()
    for path in paths:
        size = path.stat().st_size
        digest.update(size.to_bytes(8, "big"))
        with path.open("rb") as file:
            digest.update(file.read(_ENDS))
            file.seek(max(0, size - _ENDS))
            digest.update(file.read(_ENDS))
    return f"onnx:{digest.hexdigest()[:32]}"

"""Sentence vectors from a model on this machine: an ONNX file with its tokenizer, or one that fastembed knows.

Needs the extra ``embeddings``; nothing is imported, and nothing downloaded, unless a model is configured.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from persona_hooks.errors import NotFoundError
from persona_hooks.speech import phrase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Turns texts into vectors of one length each, so that likeness is the inner product.

    Attributes:
        name: Tells this model from every other; vectors of different names are never compared.
    """

    name: str

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length for each text."""
        ...


def load(source: str) -> Embedder:
    """Return the model at a path (a folder with ``model.onnx`` and ``tokenizer.json``) or of a fastembed name.

    Args:
        source: An absolute path, one that begins with ``~`` or ``.``, or else a name: no folder that happens to lie in
            the working directory is taken for a model.

    Raises:
        NotFoundError: There is no such model, or a package that it needs is not installed
            (reason ``"model_missing"`` or ``"extra_missing"``).
        CorruptError: The model or its tokenizer cannot be read.
    """
    folder = folder_of(source)
    if folder is None:
        return _from_fastembed(source)
    if not folder.is_dir():
        raise NotFoundError(
            phrase("There is no embedding model at {folder}.", folder=folder), reason="model_missing", path=str(folder)
        )
    return _from_folder(folder)


def folder_of(source: str) -> Path | None:
    """Return the folder that a source names; None where it is a name that fastembed may know."""
    try:
        folder = Path(source).expanduser()
    except RuntimeError:  # there is no such home
        folder = Path(source)
    return folder if folder.is_absolute() or source.startswith((".", "~")) else None


def _from_folder(folder: Path) -> Embedder:
    try:
        # Imported late: these modules import the packages of the extra, which may not be there.
        from persona_mind.recall.onnx_model import OnnxModel  # noqa: PLC0415
    except ImportError as error:
        raise _missing(error.name, "persona-mind[embeddings]") from error
    return OnnxModel(folder)


def _from_fastembed(name: str) -> Embedder:
    try:
        from persona_mind.recall.fastembed_model import FastembedModel  # noqa: PLC0415 - as above
    except ImportError as error:
        raise _missing(error.name, "fastembed") from error
    return FastembedModel(name)


def _missing(package: str | None, install: str) -> NotFoundError:
    return NotFoundError(
        phrase(
            'This embedding model needs the package {package}: pip install "{install}".',
            package=package,
            install=install,
        ),
        reason="extra_missing",
        package=package,
    )

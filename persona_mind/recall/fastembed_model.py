"""A model that fastembed knows by name, for those who have that package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import fastembed
import numpy as np

from persona_hooks.errors import NotFoundError
from persona_hooks.speech import phrase
from persona_mind.recall.onnx_model import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


class FastembedModel:
    """A model by name; fastembed keeps its files, and downloads them once when it has not got them.

    Args:
        model: Such as ``BAAI/bge-small-en-v1.5``.
        folder: The model's files, when they are here already; then nothing is downloaded.
    """

    def __init__(self, model: str, folder: str | None = None) -> None:
        try:
            self._model = fastembed.TextEmbedding(model, specific_model_path=folder)
        except (OSError, ValueError, RuntimeError) as error:
            message = phrase("fastembed has no model {model} here and cannot get it.", model=model)
            raise NotFoundError(message, reason="model_missing", model=model) from error
        self.name = f"fastembed:{model}"

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one row of unit length for each text."""
        if not texts:
            return np.zeros((0, 0), np.float32)
        return unit(np.stack(list(self._model.embed(list(texts)))))

"""A second opinion on text from strangers, where the extra ``classifier`` is installed.

The classifier (``stackone-defender``, a small model in its wheel, no network) may only send a text to quarantine:
it refuses nothing, releases nothing, and is not asked about what the user or the foreground model writes.
Without the extra, or where it cannot be loaded, there is no second opinion and ``state`` says why.
"""

from __future__ import annotations

import importlib
import importlib.util
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

RULE: Final = "classifier.injection"
"""The rule under which a text is quarantined by the classifier alone."""

# The strictest of the model's published presets: its main head at least this, its documentation head below that.
_MAIN_THRESHOLD: Final = 0.94
_AUX_THRESHOLD: Final = 0.30

_Classifier: TypeAlias = "Callable[[str], bool]"


class State(NamedTuple):
    """Whether a second opinion can be had, for ``persona doctor``."""

    word: Literal["absent", "ready", "failed"]
    reason: str = ""
    """The error's type, where it failed."""


def state() -> State:
    """Load the classifier if it is installed, and say how that went."""
    if importlib.util.find_spec("stackone_defender") is None:
        return State("absent")
    loaded = _load()
    return loaded if isinstance(loaded, State) else State("ready")


def objects_to(text: str) -> bool:
    """Return whether the classifier takes a text for an injection; False where there is no classifier."""
    loaded = _load()
    return not isinstance(loaded, State) and loaded(text)


@cache
def _load() -> _Classifier | State:
    try:
        # Imported late and by name: it is optional, and loads a numerical library and a 22 MB model.
        defender = importlib.import_module("stackone_defender")
        heads = defender.MultiheadConfig(main_threshold=_MAIN_THRESHOLD, aux_threshold=_AUX_THRESHOLD)
        defense = defender.create_prompt_defense(
            enable_tier1=False, require_tier2=True, block_high_risk=True, tier2_config={"multihead": heads}
        )
        defense.warmup_tier2()
    except (ImportError, AttributeError, TypeError, RuntimeError, OSError, ValueError) as error:
        return State("failed", type(error).__name__)
    return lambda text: bool(defense.defend_tool_result(text, "memory").tier2_multihead_blocked)

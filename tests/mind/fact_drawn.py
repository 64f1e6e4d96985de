"""Texts, rows and arguments for the machine of fact verbs: as wide as they may be, and some that may not."""

from __future__ import annotations

import unicodedata

from hypothesis import strategies as st

from persona_mind.facts.model import MAX_SOURCE
from persona_mind.kernel.identity import normal_text
from persona_mind.kernel.rowfields import MAX_TAG, MAX_TEXT, units
from persona_store.admission import Admitted, admit
from tests.mind.fact_model import SEATS, TIERS, Value

LIKE_A_KEY = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def spelt(spelling: str, text: str) -> str:
    """Write a text another way; a longer one is another text that contains it."""
    match spelling:
        case "in capitals":
            return text.upper()
        case "spaced":
            return f" \u3000{text.replace(' ', '  ')}\n"
        case "taken apart":
            return unicodedata.normalize("NFD", text)
        case "longer":
            return f"{text}, and tea"
        case _:
            return text


FORMS = ("as it is", "in capitals", "spaced", "taken apart", "longer")


def legal(text: str) -> bool:
    """Return whether a text may be stored and shown, whoever brings it and however it is spelt."""
    forms = {part for form in FORMS for part in (spelt(form, text), spelt(form, text).strip())}
    fits = all(normal_text(form) and units(form) <= MAX_TEXT for form in forms)
    return fits and all(isinstance(admit(form, "tool"), Admitted) for form in forms)


LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Cn")) | st.sampled_from(" \n\t\u00a0\u2028\u3000")
PHRASES = [
    "Tea at six",
    "The caf\u00e9's \u00d6l build needs Node 22.",
    "\u039f\u0394\u039f\u03a3 \u03bf\u03b4\u03cc\u03c2",
    "\u0130stanbul, \u1e9e and stra\u00dfe, \ufb01ne",
    "\U0001f469\u200d\U0001f4bb codes",
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645 \u0686\u0627\u06cc",
]
WIDE = st.one_of(
    st.text(LETTERS, min_size=1, max_size=30),
    st.text(LETTERS, min_size=12, max_size=60),
    st.sampled_from(PHRASES),
    st.text(LETTERS, min_size=20, max_size=40).map(lambda text: (text + " ") * (1_900 // len(text))),
).filter(legal)
BAD = st.sampled_from(["\0", "\x1b", "\u200b", "\u202e", "\ufffe", "\U000e0041", LIKE_A_KEY])
SPOILT = st.tuples(WIDE, BAD, WIDE).map(lambda parts: f"{parts[0][:200]} {parts[1]} {parts[2]}"[:MAX_TAG])
ILLEGAL: st.SearchStrategy[Value] = st.one_of(
    st.fixed_dictionaries({"text": st.text(" \t\n\u00a0\u3000", max_size=9) | SPOILT}),
    st.fixed_dictionaries({"tags": st.tuples(SPOILT)}),
    st.fixed_dictionaries({"source": SPOILT}),
    st.sampled_from(
        [
            {"text": "x" * (MAX_TEXT + 1)},
            {"text": "\U0001f600" * (MAX_TEXT // 2 + 1)},
            {"text": "half \ud800"},
            {"tags": ["x" * (MAX_TAG + 1)]},
            {"tags": ["x"] * 65},
            {"source": "x" * (MAX_SOURCE + 1)},
            {"derived_from": ["-"]},
            {"supersedes": "no id"},
            {"ttl_hours": 3},
            {"scope": "stm", "ttl_hours": 0},
            {"scope": "stm", "shared": True},
            {"scope": "home"},
            {"kind": "rule"},
            {"colour": "red"},
        ]
    ),
)


FOREIGN: st.SearchStrategy[Value] = st.fixed_dictionaries(
    {
        "seat": st.sampled_from(SEATS),
        "tier": st.sampled_from([*TIERS, "stm", "stm"]),
        "text": st.integers(0, 2),
        "form": st.sampled_from(FORMS),
        "tags": st.lists(st.sampled_from(["ci", "a,b"]), max_size=1),
        "shape": st.sampled_from(["original", "original", "later", "later", "unreadable", "no object", "nothing"]),
        "persona": st.sampled_from(["own", "own", "own", "Bob", "Cid", "nobody"]),
        "more": st.fixed_dictionaries(
            {}, optional={"id": st.sampled_from(["elder-1", "elder-2"]), "source": st.none() | st.just("the team")}
        ),
        "hours": st.sampled_from([-1, 3, 60, 60]),
        "indent": st.sampled_from([None, 2]),
        "first": st.booleans(),
    }
)

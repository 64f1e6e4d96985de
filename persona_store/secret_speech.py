"""Credentials that only their company gives away: ``API_KEY=…``, "the password is …", in ten languages.

What follows the keyword decides: a reference (``$TOKEN``), a type name or a plain adjective is not a secret; a
value with a digit or a symbol, a quoted one, or a lone word that ends the clause, is.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from persona_store.folding import FOLDED
from persona_store.patterns import Pattern
from persona_store.secrets_table import Secret, is_placeholder

# Read in lower case, since a pattern that ignores case is several times slower.
_KEYWORD: Final = Pattern(
    r"pass(?:word|wd|phrase|code|wort)s?|pwd|pincode|pin|parola(?: d'ordine)?|kennwort|key|zugangs(?:code|daten)"
    r"|wachtwoord|mot de passe|contrase(?:n|\u00f1)a|clave|chiave|codice segreto|credentials?"
    r"|secret(?:[ _-](?:access[ _-])?key)?|tokens?|senha|palavra[ -]passe"
    r"|has\u0142o|haslo|\u043f\u0430\u0440\u043e\u043b[\u044c\u044f\u0435]|\u5bc6\u7801|\u5bc6\u78bc|\u53e3\u4ee4"
    r"|\u30d1\u30b9\u30ef\u30fc\u30c9|\u6697\u8a3c\u756a\u53f7|\ube44\ubc00\ubc88\ud638|\uc554\ud638"
)
_STRONG: Final = Pattern(
    "pass|pwd|kennwort|zugangs|pin|wachtwoord|parola|mot de|contrase|clave|codice|senha|palavra|has|[^\\x00-\u00ff]"
)
_KEY_OF: Final = Pattern(
    r"(?P<of>api|access|secret|private|auth|account|encryption|signing|master|shared|client|consumer|app)[ _.-]?$"
)
_KEY_OF_REACH: Final = 12
# Keys that are named by the fingerprint that follows them.
_FINGERPRINTED: Final = frozenset({"signing", "encryption", "master", "shared", "private"})

_ASSIGNED: Final = Pattern(
    r"""(?P<name>[_-][\w-]{0,32}|[0-9]{0,3})["'`\])}*]{0,3}\s{0,3}"""
    r"""(?P<by>:=|=>|==?|:\ {0,3}[|>][+-]?\ {0,3}\n\s{0,12}|[:\uff1a]|--?>|\u2192|\u21d2|\||\s[\u2013\u2014-]\s)"""
    r"""\s{0,3}(?P<value>[^\s,;]{1,256})"""
)
# What is said about a secret without giving it: its identifier, its place, its measures.
_ABOUT: Final = Pattern(
    r"[\w-]*[_-](?:ids?|names?|files?|paths?|dirs?|urls?|types?|hash|fingerprint|length|count|version)$"
)
# A published default, or a cell of a table, is told from a secret by what stands before its name.
_SHIPPED: Final = Pattern(r"(?:default|standard|example|sample|dummy|predefinita|par d\u00e9faut)[ _-]$", re.IGNORECASE)
_SHIPPED_REACH: Final = 14
_CELL: Final = Pattern(r"(?:^|\n|\|)[ \t*`]{0,8}$")
_CELL_REACH: Final = 10
# Scripts that set no space between a word and what is said of it, and Slavic ones that need no verb.
_UNSPACED: Final = Pattern(
    r"(?:[ \t][^\x00-\x7f\s]{1,16}){0,3}[ \t]{0,3}"
    r"(?:\u662f|\u4e3a|\u70ba|\u306f|\u304c|\uc740|\ub294|to |jest |[\u2013\u2014-] )?[ \t]{0,3}[:=\uff1a]?"
    r"[ \t\u300c\u201c\"'`]{0,4}(?P<value>[!-~]{4,128})"
)
_PHRASE: Final = Pattern(
    r"(?:(?:seed|recovery|backup|mnemonic|secret|wallet)[ _-](?:phrase|words|seed)|mnemonic)\b"
    r"[^.:=\n]{0,40}(?:[:=]|\bis\b)"
    r"[\s\"'`]{0,4}(?:(?:[0-9]{1,2}[.)][ ]?)?(?!(?:the|and|are|was|for|not|must|should|your|never|from|has|kept)\b)"
    r"[a-z]{3,8}[\s,]{1,3}){11}"
)
_COUNTED: Final = frozenset({"pin", "pincode"})
_SPOKEN: Final = Pattern(
    r"(?:\s{1,4}(?!hash|algorithm|polic|length|ids?\b|name|fingerprint|manager"
    r"|field|file|prompt|strength|rotation|column|table|param|option"
    r"|type|format|expir)[^\s.!?;:=]{1,32}){0,8}?\s{1,4}"
    r"(?:is(?: now| still)?|was|will be|(?:is |was )?(?:set|changed|reset) to|equals|\u00e8|e'|era|sar\u00e0"
    r"|ist(?: jetzt)?|luidt|\u00e9(?: agora)?|lautet(?: jetzt)?|war|hei\u00dft"
    r"|est(?: maintenant)?|\u00e9tait|sera|es(?: ahora)?|ser\u00e1)"
    r"(?![^\W_])\s{0,3}[:=]?\s{0,3}(?P<value>[^\s,;]{1,256})",
    re.IGNORECASE,
)
_NEXT: Final = Pattern(r"\s{1,4}(?P<value>[^\s,;]{4,256})")

_QUOTES: Final = "\"'`\u201c\u201d\u2018\u2019\u00ab\u00bb\u201e*_"
_OPENING: Final = "\"'`\u201c\u2018\u00ab\u201e"
_TRAILING: Final = ".!?)]}>" + _QUOTES
_REFERENCE: Final = Pattern(
    r"(?i:os\.|env\b|environ|process\.|getenv|settings\.|config\.|self\.|secrets?\.|vars?\.|op://|vault:|file:|arn:|"
    r"https?:|None|null|true|false|undefined|nil|str\b|string|int\b|bytes|optional|required|any\b|sha\d|base64|utf)"
    r"|[A-Za-z_.]*\(|[A-Za-z]*\[|/|~/|\.\.?/|@|&|--|:"
)
_WORDS_JOINED: Final = Pattern(r"[A-Za-z]+(?:[-_.][A-Za-z]+){2,}")
_HYPHENATED: Final = Pattern(r"[^\W\d_]+(?:[-_/'\u2019.][^\W\d_]+)*")
_NUMBER: Final = Pattern(
    r"[0-9][0-9., /:x\u2013-]*(?:%|st|nd|rd|th|k|kb|mb|ms|s|min|h|d|px|bit|bits|v?)", re.IGNORECASE
)

# What a password may be said to be, and little words that begin another thought.
_ADJECTIVES: Final = """
bytes char column field form hash input number prompt secretstr string text value varchar manager policy login
a about above absent again all allowed also always an and any as asked at bad because been being below better
blank both broken but by case cached changed clear compromised correct default defaults different done easy
either else empty enough entered even exactly expired false far fine first for from given gone good guessable
hard hashed here hidden how if important impossible in incorrect insecure instead invalid it its just kept
known last leaked less like locked long lost mandatory masked meant missing more most my needed never new no
none not nothing now null ok okay old on one only optional or our out outdated over plain plaintext present
printed private protected public random read required reset right safe saved secret secure sent set shared
short shown still stored strong stronger stuff such that the their them then there this to too true two typed
unchanged undefined under unique unknown unsafe unset up used useless valid very visible weak well what when
where which with without wrong yes you your yours un una il la lo le gli nel nella sul sulla scaduta scaduto
sbagliata sbagliato errata errato corretta corretto debole forte vuota vuoto sicura sicuro obbligatoria
richiesta salvata salvato quella quello stata stato non sempre ancora troppo molto nota segreta uguale diversa
ein eine einen der die das im zu nicht falsch richtig abgelaufen schwach stark leer sicher unsicher geheim
gespeichert erforderlich noch immer sehr bekannt gleich anders notwendig kurz lang neu alt une les dans au aux
trop pas incorrecte expire faible fort vide obligatoire requis toujours encore tres connu secrete identique el
los las en muy demasiado incorrecta incorrecto caducada debil fuerte vacia segura obligatoria requerida
siempre todavia conocida secreta diferente igual guardada errada errado incorreta incorreto expirada obrigatoria
obrigatorio necessaria muito curta longa fraca forte vazia sempre ainda conhecida segura guardada salva verlopen
onjuist fout verplicht vereist zwak sterk leeg te niet altijd bekend veilig opgeslagen geheim kort gewijzigd
"""
_PREDICATE: Final = Pattern(
    r"\w+(?:ed|ing|able|ible|ful|less|ous|ally|ly|tion|ment|ato|ata|ito|ita|bar|lich|ado|ada|ido|ida|\u00e9e?)$"
)

_CAMEL: Final = Pattern("[A-Za-z]+[a-z][A-Z]")


@cache
def _adjectives() -> frozenset[str]:
    return frozenset(_ADJECTIVES.split())


def first_spoken_secret(text: str) -> Secret | None:
    """Return the first credential that is named and then given, or None."""
    lowered = text.lower()
    if len(lowered) != len(text):
        # A few capitals grow when lowered; offsets must not.
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    if "phrase" in lowered or "mnemonic" in lowered or "seed" in lowered or "words" in lowered:
        phrase = _PHRASE.re.search(lowered)
        if phrase is not None:
            return Secret("secret.seed-phrase", phrase.start())
    for keyword in _KEYWORD.re.finditer(lowered):
        owner = _KEY_OF.re.search(lowered, max(0, keyword.start() - _KEY_OF_REACH), keyword.start())
        if _names_a_secret(text, keyword, owner) and _is_given(text, keyword, owner):
            return Secret("secret.keyed", owner.start() if owner is not None else keyword.start())
    return None


def _names_a_secret(text: str, keyword: re.Match[str], owner: re.Match[str] | None) -> bool:
    start, word = keyword.start(), keyword[0]
    if word == "key":
        return owner is not None
    if word == "pin":
        return text[start : start + 3] == "PIN" or text.startswith((" is", " code", " number"), keyword.end())
    inside_word = start > 0 and text[start - 1].isalpha() and text[start].islower()
    return not inside_word or owner is not None or word.startswith(("pass", "pwd"))


def _is_given(text: str, keyword: re.Match[str], owner: re.Match[str] | None) -> bool:
    strong = _STRONG.re.match(keyword[0]) is not None
    if not keyword[0].isascii():
        near = _UNSPACED.re.match(text, keyword.end())
        if near is not None and _is_machine_made(_bare(near["value"]), least=4):
            return True
    assigned = _ASSIGNED.re.match(text, keyword.end())
    if assigned is not None and (assigned["by"] != "|" or _in_cell(text, keyword.start())):
        if _ABOUT.re.match(assigned["name"].lower()):
            return False
        symbol = text[max(0, keyword.start() - 1) : keyword.start()] == "_" or assigned[0][0] != ":"
        spaced = not symbol and text[assigned.start("value") - 1].isspace()
        return _is_secret(assigned["value"], text, assigned.end(), strong=strong, spoken=spaced)
    spoken = _SPOKEN.re.match(text, keyword.end())
    if spoken is not None and _is_said(keyword, text, spoken, strong=strong):
        return True
    if owner is not None and owner["of"] in _FINGERPRINTED:
        return False
    following = _NEXT.re.match(text, keyword.end())
    return following is not None and _is_machine_made(following["value"].strip(_TRAILING), least=8 if strong else 16)


def _is_said(keyword: re.Match[str], text: str, spoken: re.Match[str], *, strong: bool) -> bool:
    value = _bare(spoken["value"])
    if keyword[0] in _COUNTED and not value.isdecimal():
        return False
    if _HYPHENATED.re.fullmatch(value) and _stands_before(_SHIPPED, text, keyword.start(), _SHIPPED_REACH):
        return False
    return _is_secret(spoken["value"], text, spoken.end(), strong=strong, spoken=True)


def _in_cell(text: str, start: int) -> bool:
    """Return whether a name opens a line or a table's cell, and is not the left side of a pipe."""
    return _stands_before(_CELL, text, start, _CELL_REACH)


def _stands_before(pattern: Pattern, text: str, start: int, reach: int) -> bool:
    opening = max(0, start - reach)
    window = text[opening:start] if opening else "\n" + text[:start]
    return pattern.re.search(window) is not None


def _bare(raw: str) -> str:
    return raw.lstrip(_OPENING + "\\*").rstrip(_TRAILING + "\\")


def _is_secret(raw: str, text: str, end: int, *, strong: bool, spoken: bool) -> bool:
    value = _bare(raw)
    if len(value) < 4 or is_placeholder(value) or _REFERENCE.re.match(value):
        return False
    last = _ends_clause(raw, text, end)
    if value.isdecimal():
        return strong and last
    if _HYPHENATED.re.fullmatch(value) is None:
        return _NUMBER.re.fullmatch(value) is None and _is_machine_made(value, least=4 if strong else 12)
    if spoken and _WORDS_JOINED.re.fullmatch(value):
        return strong
    return strong and (raw[0] in _OPENING or (spoken and last)) and _is_odd_word(value)


def _is_odd_word(word: str) -> bool:
    """Return whether a word is nothing that one says of a password: "swordfish", not "wrong" or "rotated"."""
    return (
        word.isalpha()
        and FOLDED.of(word) not in _adjectives()
        and not _PREDICATE.re.match(word.lower())
        and not _CAMEL.re.match(word)
    )


def _is_machine_made(value: str, *, least: int) -> bool:
    if len(value) < least or is_placeholder(value) or _REFERENCE.re.match(value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    if least <= 4:
        return letters and _HYPHENATED.re.fullmatch(value) is None
    return letters and digits


def _ends_clause(raw: str, text: str, end: int) -> bool:
    return raw[-1] in ".!?)\"'`\u201d\u00bb" or text[end : end + 1] in {"", ",", ";", "\n"} or text[end:].isspace()

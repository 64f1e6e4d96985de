"""Credentials in markup, in pieces, encoded, in foreign letters and other languages; and their harmless neighbours."""

from __future__ import annotations

import base64

import pytest

from persona_store.admission import Admitted, Refused, admit

WORD = "hunter2" + "xyz9"
SAID = f"the password is {WORD}"
# Put together from pieces, so that no scanner takes this file for a leak.
GITHUB = "ghp" + "_aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6"
AWS = "AKIA" + "IOSFODNN7EXAMPLE"
TOKEN = "eyJhbGciOiJIUzI1NiJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0" + ".dozjgNryP4J3jVmNHl0w5N"
SEED = "abandon ability able about above absent absorb abstract absurd abuse access accident"


def wide(text: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in text)


def refused(text: str) -> str:
    verdict = admit(text, "user")
    assert isinstance(verdict, Refused), text
    return verdict.rule


MARKUP = (
    f"**password**: {WORD}",
    f"`password`: `{WORD}`",
    f"__password__ = {WORD}",
    f"pass**word**: {WORD}",
    f"| password | {WORD} |",
    f"| user | password |\n|---|---|\n| password | {WORD} |",
    f"<b>password</b>: {WORD}",
    f"<td>password</td><td>{WORD}</td>",
    f'{{\\"password\\": \\"{WORD}\\"}}',
    f"password -> {WORD}",
    f"password \u2192 {WORD}",
    f"password \u2013 {WORD}",
    f"password: |\n  {WORD}\n",
    f"password: >-\n    {WORD}",
)

BROKEN = (
    f"{GITHUB[:20]}\n{GITHUB[20:]}",
    f"{GITHUB[:20]} {GITHUB[20:]}",
    f"{GITHUB[:20]}\\\n  {GITHUB[20:]}",
    f"{GITHUB[:4]} {GITHUB[4:]}",
    f'"{GITHUB[:20]}" + "{GITHUB[20:]}"',
    f"'{GITHUB[:4]}' + '{GITHUB[4:]}'",
    f"the key {AWS[:8]} {AWS[8:]}",
    TOKEN.replace(".", ".\n", 1),
    TOKEN.replace(".", ". ", 1),
)

ENCODED = {
    "a value in base64": f"data:\n  password: {base64.b64encode(WORD.encode()).decode()}",
    "a line in base64": f"note {base64.b64encode(f'export API_KEY={GITHUB}'.encode()).decode()}",
    "a sentence in base64": f"note {base64.b64encode(SAID.encode()).decode()}",
    "entities": "".join(f"&#{ord(c)};" for c in SAID),
    "one entity": f"&#112;assword: {WORD}",
    "escapes": "".join(f"\\x{ord(c):02x}" for c in SAID),
    "percent escapes": "".join(f"%{ord(c):02x}" for c in SAID),
    "one percent escape": f"password%3D{WORD}",
    "hexadecimal": SAID.encode().hex(),
    "a token in hexadecimal": GITHUB.encode().hex(),
    "octets": SAID.encode().hex(" "),
    "spaced letters": " ".join(GITHUB),
    "a spaced value": "the password is " + " ".join(WORD),
    "spaced words": " ".join(SAID),
    "reversed": SAID[::-1],
    "a reversed token": GITHUB[::-1],
    "RSA without its header": "MIIEpAIBAAKCAQEA" + "b4Kc9dE2" * 8,
    "PKCS 8 without its header": "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj" + "b4Kc" * 8,
    "OpenSSH without its header": "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ" + "A" * 20,
}

LETTERS = {
    "full-width token": wide(GITHUB),
    "full-width value": f"password: {wide(WORD)}",
    "Cyrillic keyword": f"r\u0430ssw\u043erd p\u0430ssw\u043erd: {WORD}",
    "Cyrillic capital": AWS.replace("A", "\u0410", 1),
    "no-break spaces": f"password\u00a0is\u00a0{WORD}",
    "Braille blanks": f"password\u2800is\u2800{WORD}",
    "combining accents": f"pa\u0301sswo\u0301rd: {WORD}",
    "an accent inside a prefix": GITHUB.replace("h", "h\u0301", 1),
}

LANGUAGES = (
    f"A senha \u00e9 {WORD}",
    "a senha \u00e9 swordfish.",
    f"senha: {WORD}",
    f"palavra-passe: {WORD}",
    f"het wachtwoord is {WORD}",
    f"\u043f\u0430\u0440\u043e\u043b\u044c: {WORD}",
    f"\u043f\u0430\u0440\u043e\u043b\u044c \u043e\u0442 \u0441\u0435\u0440\u0432\u0435\u0440\u0430 - {WORD}",
    f"has\u0142o to {WORD}",
    f"\u5bc6\u7801\u662f{WORD}",
    f"\u30d1\u30b9\u30ef\u30fc\u30c9\u306f{WORD}\u3067\u3059",
    f"\ube44\ubc00\ubc88\ud638\ub294 {WORD}",
)

PHRASES = (
    f"seed phrase: {SEED}",
    f"my recovery phrase is {SEED}",
    f"mnemonic = {SEED}",
    "seed phrase:\n" + " ".join(f"{number}. {word}" for number, word in enumerate(SEED.split(), 1)),
)


@pytest.mark.parametrize("text", MARKUP)
def test_markup_round_a_label_hides_no_secret(text: str) -> None:
    assert refused(text).startswith("secret.keyed")


@pytest.mark.parametrize("text", BROKEN)
def test_a_token_in_pieces_is_put_together(text: str) -> None:
    assert refused(text).endswith(".broken")


@pytest.mark.parametrize("text", [*ENCODED.values(), *LETTERS.values()], ids=[*ENCODED, *LETTERS])
def test_a_disguised_secret_is_refused(text: str) -> None:
    assert refused(text).startswith("secret.")


@pytest.mark.parametrize("text", LANGUAGES)
def test_a_password_in_further_languages_is_refused(text: str) -> None:
    assert refused(text) == "secret.keyed"


@pytest.mark.parametrize("text", PHRASES)
def test_the_words_of_a_wallet_are_refused(text: str) -> None:
    assert refused(text) == "secret.seed-phrase"


@pytest.mark.parametrize(
    "text",
    [
        "PIN: 4931",
        "the pin is 4931",
        "the default password is Tr0ub4dor&3",
        "postgres://service:service@db.example.com/x",
        "postgres://postgres:s3cr3tpw@localhost/x",
    ],
)
def test_what_resembles_a_shipped_value_is_still_refused(text: str) -> None:
    refused(text)


def test_the_offset_of_a_broken_or_folded_secret_points_into_the_original() -> None:
    for text in (f"\u00e9 then {GITHUB[:20]}\n{GITHUB[20:]}", f"\u00e9 then {wide(GITHUB)}"):
        verdict = admit(text, "user")
        assert isinstance(verdict, Refused)
        assert verdict.offset == 7


HARMLESS = tuple(
    """\
The pin is GPIO17 (pin 11).
The pins are D2 and A0
The default password is admin.
the example password is hunter
The signing key id is ABCD1234EF567890
signing_key_id: ABCD1234EF567890
the key id is 3AA5C34371567BD2
token_count: 123456789012abc
postgres://postgres:postgres@localhost:5432/test
amqp://guest:guest@localhost:5672
echo $PASSWORD | python3 -c 'x'
cat password | sha256sum
| password | string | The user's password |
| token | string | required |
| `password` | The password of the account. |
**Password**: required
**password** is required
**Token** limit: 200k
getPassword() -> String
password -> required
secret -> vault path
seed phrase: twelve words that only you know and that must never be shared with anyone else
The recovery phrase is shown only once when the wallet gets created, write it down carefully
sk-learn is great and http2 works in python3 since v2 of utf8 lib2
commit 3fa9c1d 8e7b2aa and 77fa0c1
10:20:30:40:50:60:70:80
MIIDXTCCAkWgAwIBAgIJAKL0UG+mRKSzMA0GCSqGSIb3DQEBCwUAMEUxCzAJBgNV
a senha est\u00e1 errada
A senha \u00e9 obrigat\u00f3ria.
Het wachtwoord is verlopen.
\u043f\u0430\u0440\u043e\u043b\u044c \u043d\u0435\u0432\u0435\u0440\u043d\u044b\u0439
\u5bc6\u7801\u9519\u8bef
has\u0142o jest nieprawid\u0142owe
see https://x.example/a%20b%20c
docs **bold** and <b>tags</b> for `code`
""".splitlines()
)


@pytest.mark.parametrize("text", [*HARMLESS, "password: >-\n  The password of the user"])
def test_talk_beside_secrets_is_admitted_from_anyone(text: str) -> None:
    assert isinstance(admit(text, "tool"), Admitted)

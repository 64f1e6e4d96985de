"""Credentials made up from a seed, sentences that carry them, and what only looks like one."""

from __future__ import annotations

import base64
import string
from typing import TYPE_CHECKING, Final
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

ALNUM: Final = string.ascii_letters + string.digits
LOWER: Final = string.ascii_lowercase + string.digits
UPPER: Final = string.ascii_uppercase + string.digits
HEX: Final = "0123456789abcdef"
URL: Final = ALNUM + "-_"
B64: Final = ALNUM + "+/"

# Shapes are put together from pieces, so that no scanner takes this file for a leak.
_PIECES: Final[dict[str, str]] = {
    "AWS key id": "AKIA<U16>",
    "AWS session key id": "ASIA<U16>",
    "AWS secret key": "aws_secret_access_key=<B40>",
    "GitHub personal": "ghp_<A36>",
    "GitHub server": "ghs_<A36>",
    "GitHub fine-grained": "github_pat_<A22>_<A59>",
    "GitLab": "glpat-<R20>",
    "Slack bot": "xoxb-<D12>-<D12>-<A24>",
    "Slack app": "xapp-1-<U11>-<D13>-<H64>",
    "Slack webhook": "https://hooks.slack.com/services/T<U8>/B<U10>/<A24>",
    "Anthropic": "sk-ant-api03-<R93>AA",
    "OpenAI": "sk-<A48>",
    "OpenAI project": "sk-proj-<R64>",
    "OpenRouter": "sk-or-v1-<H64>",
    "Google": "AIza<R35>",
    "Google OAuth": "GOCSPX-<R28>",
    "Stripe live": "sk_live_<A24>",
    "Stripe restricted": "rk_live_<A24>",
    "npm": "npm_<A36>",
    "PyPI": "pypi-AgEIcHlwaS5vcmc<R70>",
    "Hugging Face": "hf_<A34>",
    "DigitalOcean": "dop_v1_<H64>",
    "Twilio": "SK<H32>",
    "SendGrid": "SG.<R22>.<R43>",
    "Mailgun": "key-<H32>",
    "Discord": "MT<A22>.<R6>.<R38>",
    "Telegram": "<D10>:AA<R33>",
    "JSON web token": "eyJhbGciOiJIUzI1NiJ9.eyJ<R40>.<R43>",
    "private key": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "OpenSSH key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "Postgres URL": "postgres://app:<A16>@db.internal:5432/app",
    "MongoDB URL": "mongodb+srv://svc:<A14>@cluster0.mongodb.net/x",
    "Azure storage": "AccountKey=<B86>==",
    "bearer": "Bearer <R40>",
    "Databricks": "dapi<H32>",
    "Shopify": "shpat_<H32>",
    "Docker": "dckr_pat_<R27>",
    "Vault": "hvs.<R24>",
    "Linear": "lin_api_<A40>",
    "Notion": "ntn_<A46>",
    "Grafana": "glsa_<A32>_<H8>",
    "Groq": "gsk_<A52>",
    "age": "AGE-SECRET-KEY-1<U58>",
    "keyed": "API_KEY=<A32>",
    "keyed YAML": "client_secret: <A24>",
    "keyed JSON": '"password": "<A12>"',
}
SHAPES: Final = tuple(_PIECES)

FRAMES: Final = (
    "{}",
    "The deploy uses {}.",
    "remember this for later: {}, please",
    "I put `{}` into the staging settings",
    "Set it up with {} (from the vault) and restart",
)

_ALPHABETS: Final = {"A": ALNUM, "U": UPPER, "H": HEX, "D": string.digits, "R": URL, "B": B64, "L": LOWER}

PASSWORDS: Final = (
    "hunter2",
    "Tr0ub4dor&3",
    "S3cret!",
    "swordfish",
    "correct-horse-battery-staple",
    "qwerty123",
    "P@ssw0rd",
    "letmein",
    "Sommer2024",
    "4931",
    "opensesame",
    "x7!kQ-92",
    "dragonfly",
    "Winter#19",
    "blaubeere7",
    "zuppa_inglese_9",
    "monkey",
    "trustno1",
    "Rosebud",
    "aB3$efgh",
)

PROSE: Final = tuple(
    """\
The password is {}.
the wifi password at the office is {}
my password for the staging server is {}, keep it
Password: {}
the passphrase is now {}
La password del router è {}.
la password è {}
Das Passwort für den Server lautet {}.
das Kennwort ist {}
Le mot de passe du serveur est {}.
le mot de passe est {}
La contraseña del servidor es {}.
la contraseña es {}
""".splitlines()
)

NOT_SECRETS: Final = tuple(
    """\
The password is required.
the password is wrong
The password is stored in the keychain.
The token is expired.
API_KEY=$OPENAI_API_KEY
api_key: ${{ secrets.API_KEY }}
password: <your password>
token = os.environ['TOKEN']
export GITHUB_TOKEN=xxxxxxxxxxxx
The secret is to keep the dough cold.
password=********
the key is under the mat
The password field is hidden on mobile.
Passwords are hashed with argon2id.
the token count is 4096
Das Passwort ist falsch.
Il mot de passe est trop court.
La password è scaduta.
La contraseña es demasiado corta.
The password must be at least 12 characters.
token: str
secret: SecretStr | None = None
password = getpass.getpass()
The master key is kept in the vault.
A token is a word or a part of one.
The password is changed every 90 days.
max_tokens=4096
access_token: Optional[str]
The API key is read from the environment.
PIN the version to 3.11.
""".splitlines()
)


def credential(shape: str, random: Random) -> str:
    """Return one made-up credential of a shape."""
    made, rest = "", _PIECES[shape]
    while rest:
        before, opened, after = rest.partition("<")
        made += before
        if opened:
            spec, _, after = after.partition(">")
            made += _digits(spec, random)
        rest = after
    return made


def _digits(spec: str, random: Random) -> str:
    count = int(spec[1:])
    middle = "".join(random.choices(_ALPHABETS[spec[0]], k=count - 2))
    return random.choice(ALNUM if spec[0] in "ABR" else _ALPHABETS[spec[0]]) + middle + random.choice("0123456789")


def look_alikes(random: Random, count: int) -> Iterator[str]:
    """Yield sentences with identifiers, hashes and encoded data that are no secrets."""
    kinds: tuple[Callable[[], str], ...] = (
        lambda: f"request id {UUID(int=random.getrandbits(128), version=4)}",
        lambda: f"fixed in commit {random.getrandbits(160):040x}.",
        lambda: f"sha256:{random.getrandbits(256):064x}",
        lambda: f"md5 {random.getrandbits(128):032x} matches",
        lambda: f"see {random.getrandbits(28):07x} and {random.getrandbits(28):07x}",
        lambda: f"integrity sha512-{base64.b64encode(random.randbytes(64)).decode()}",
        lambda: f"the thumbnail is {base64.b64encode(random.randbytes(random.randint(12, 90))).decode()}",
        lambda: f"order {random.randint(10**9, 10**12)} shipped",
        lambda: f"trace {random.getrandbits(64):016x}, span {random.getrandbits(32):08x}",
        lambda: f"https://example.com/watch?v={''.join(random.choices(URL, k=11))}",
        lambda: f"ticket ABC-{random.randint(1, 99_999)} in build {random.randint(1, 9)}.{random.randint(0, 99)}.0",
        lambda: f"docker image app@sha256:{random.getrandbits(256):064x}",
        lambda: f'{{"id": "{"".join(random.choices(LOWER, k=24))}", "ok": true}}',
        lambda: (
            f"export {random.choice(('API_KEY', 'GITHUB_TOKEN', 'DB_PASSWORD'))}=${{SECRET_{random.randint(1, 99)}}}"
        ),
        lambda: f"ULID 01{''.join(random.choices(UPPER, k=24))}",
    )
    for index in range(count):
        yield kinds[index % len(kinds)]()

"""Credentials by shape, by assignment and by what people say of them; and what only looks like one."""

from __future__ import annotations

import random

import pytest

from benchmarks.admission_secrets import (
    FRAMES,
    NOT_SECRETS,
    PASSWORDS,
    PROSE,
    SHAPES,
    credential,
    look_alikes,
)
from persona_store.admission import Admitted, Refused, admit
from persona_store.secrets_table import FORMATS


def is_refused_as_secret(text: str) -> bool:
    verdict = admit(text, "user")
    return isinstance(verdict, Refused) and verdict.rule.startswith("secret.")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_machine_made_credential_is_refused_in_every_sentence(shape: str) -> None:
    source = random.Random(f"credentials {shape}")
    made = [credential(shape, source) for _ in range(20)]
    assert [frame for value in made for frame in FRAMES if not is_refused_as_secret(frame.format(value))] == []


@pytest.mark.parametrize("sentence", PROSE)
def test_a_password_said_in_five_languages_is_refused(sentence: str) -> None:
    caught = [password for password in PASSWORDS if is_refused_as_secret(sentence.format(password))]
    assert len(caught) >= 0.8 * len(PASSWORDS)


@pytest.mark.parametrize("text", NOT_SECRETS)
def test_talk_about_secrets_is_admitted(text: str) -> None:
    assert isinstance(admit(text, "user"), Admitted)


def test_identifiers_hashes_and_encoded_data_are_admitted() -> None:
    refused = [text for text in look_alikes(random.Random("look-alikes"), 3_000) if is_refused_as_secret(text)]
    assert len(refused) <= 3


def test_the_offset_points_at_the_credential() -> None:
    refused = admit("é😀 key: ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hJ6", "user")
    assert isinstance(refused, Refused)
    assert (refused.rule, refused.offset) == ("secret.github-token", 8)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("the key sk-ant-" + "api03-abcdefghij0123456789", "secret.anthropic-key"),
        ("sk-proj-" + "abcdefghij0123456789abcd", "secret.openai-key"),
        ("AKIA" + "IOSFODNN7EXAMPLE", "secret.aws-key-id"),
        ("-----BEGIN RSA " + "PRIVATE KEY-----", "secret.private-key"),
        ("Authorization: Bearer " + "abcdef0123456789abcdef", "secret.bearer-token"),
        ("postgres://app:" + "hunter2pw@db/x", "secret.url-password"),
        ("db_password = 'correcthorse9'", "secret.keyed"),
    ],
)
def test_the_rule_names_the_kind_of_credential(text: str, rule: str) -> None:
    refused = admit(text, "user")
    assert isinstance(refused, Refused)
    assert refused.rule == rule


def test_names_of_formats_are_unique_and_each_can_be_woken() -> None:
    names = [row.name for row in FORMATS]
    assert len(set(names)) == len(names)
    assert all(row.anchors for row in FORMATS)

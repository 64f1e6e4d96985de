"""Which model is used."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext

import pytest

from persona_hooks.errors import InvalidError, RefusedError
from persona_hooks.messages import Setting
from persona_hooks.ports import Completion
from persona_host.embedded.agent import require
from persona_host.embedded.choice import Choice, Roles, parse
from persona_host.embedded.models import HostModels
from tests.support.model_server import Failure, ModelServer, Reply


def settings(**values: str) -> dict[str, Setting]:
    keys = {name.replace("_", "."): value for name, value in values.items()}
    return {key: Setting(key=key, value=value, source="settings.json") for key, value in keys.items()}


LOCAL = settings(models_default_model="openai:small", models_default_baseUrl="http://127.0.0.1:1/v1")


def test_the_default_role_is_used_where_nothing_is_asked_for() -> None:
    models = HostModels({})
    models.configure(LOCAL)
    assert models.session is not None
    assert (models.session.label, models.session.base_url) == ("openai:small", "http://127.0.0.1:1/v1")


def test_a_model_that_is_asked_for_wins_and_keeps_its_providers_address() -> None:
    models = HostModels({}, "openai:large")
    models.configure(LOCAL)
    assert models.session is not None
    assert (models.session.label, models.session.base_url) == ("openai:large", "http://127.0.0.1:1/v1")


def test_a_model_of_another_provider_takes_no_address_over() -> None:
    assert Roles(LOCAL).asked("anthropic:x", "--model").base_url == ""


def test_a_role_may_be_asked_for_by_name() -> None:
    roles = Roles({**LOCAL, **settings(models_flash_model="openai:tiny")})
    assert roles.asked("flash", "--model").label == "openai:tiny"


def test_an_unknown_role_is_the_default_one() -> None:
    choice = Roles(LOCAL).choice("routing")
    assert choice is not None
    assert choice.label == "openai:small"


def test_without_settings_there_is_no_model() -> None:
    models = HostModels({})
    models.configure({})
    assert models.session is None


@pytest.mark.parametrize("text", ["gpt", "openai:", ":x", "openai:a b", ""])
def test_a_malformed_name_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InvalidError, match="provider:name") as caught:
        parse(text, field="model")
    assert not text or f"{text!r}" not in str(caught.value)


def test_a_completion_reaches_the_roles_model_with_its_bounds() -> None:
    with ModelServer([Reply("yes", usage=(7, 2))]) as server:
        models = HostModels({})
        models.configure(settings(models_flash_model="openai:tiny", models_flash_baseUrl=server.url))
        done = models.complete(Completion("be brief", "well?", role="flash", max_tokens=9))
        body = server.requests[0].body
    assert (done.text, done.model, done.input_tokens, done.output_tokens) == ("yes", "openai:tiny", 7, 2)
    assert (body["model"], body.get("max_completion_tokens", body.get("max_tokens"))) == ("tiny", 9)
    assert [message["content"] for message in body["messages"]] == ["be brief", "well?"]


def test_a_completion_without_a_model_is_refused() -> None:
    with pytest.raises(RefusedError) as caught:
        HostModels({}).complete(Completion("", "x"))
    assert caught.value.reason == "no_model"


def test_a_refused_key_is_told_without_the_providers_words() -> None:
    with ModelServer([Failure(401, "bad key sk-test-1234")]) as server:
        models = HostModels({"MY_KEY": "sk-test-1234"})
        models.configure(
            settings(
                models_default_model="openai:m", models_default_baseUrl=server.url, models_default_apiKeyEnv="MY_KEY"
            )
        )
        with pytest.raises(RefusedError, match="MY_KEY") as caught:
            models.complete(Completion("", "x"))
    assert "sk-test" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:1/v1", True),
        ("https://localhost.example.com/v1", False),
        ("", False),
    ],
)
def test_a_server_on_this_machine_is_told_from_others(url: str, *, local: bool) -> None:
    assert Choice("openai", "tiny", url).local is local


@pytest.mark.parametrize(("url", "needed"), [("http://127.0.0.1:1/v1", False), ("https://example.com/v1", True)])
def test_a_key_is_needed_for_other_machines_only(url: str, *, needed: bool) -> None:
    choice = Choice("openai", "tiny", url, "NO_SUCH_KEY")
    with pytest.raises(RefusedError, match="NO_SUCH_KEY") if needed else nullcontext():
        require(choice, {})


@pytest.mark.parametrize("model", ["openai:x", "openai-responses:x", "anthropic:x"])
def test_a_key_that_is_missing_is_told_before_the_library_is_loaded(model: str, environ: dict[str, str]) -> None:
    script = (
        "import os, sys; from persona_host.embedded.models import HostModels\n"
        "from persona_hooks.errors import RefusedError\n"
        "try: HostModels(os.environ).select(sys.argv[1], 'test')\n"
        "except RefusedError as error: print(error.reason, 'pydantic_ai' in sys.modules)\n"
    )
    bare = {name: value for name, value in environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    ran = subprocess.run([sys.executable, "-c", script, model], env=bare, capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["no_key", "False"]

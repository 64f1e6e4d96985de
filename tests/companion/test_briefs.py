from __future__ import annotations

from pathlib import Path

import pytest

from persona_companion.briefreader import read_folder, read_markdown
from persona_companion.briefs import MAX_PROMPT
from persona_companion.faults import FaultError

BRIEF = Path("/p/kiri/brief.yml")
NOTE = Path("/p/kiri.md")


def fault_of(text: str | bytes, *, markdown: bool = False) -> tuple[int | None, str]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(FaultError) as caught:
        read_markdown(NOTE, data, "user") if markdown else read_folder(BRIEF, data, "user")
    return caught.value.fault.line, caught.value.fault.message


def test_a_folder_s_brief_is_read_whole_and_what_is_unknown_is_kept() -> None:
    text = """\
name: Kiri
description: A careful
  research assistant.
prompt: |
  You are Kiri.

  Be concise.
objective: Find the source.
role: routing
model: openai:some-model
notebook:
  sets: [pastoral]
  extraction: {role: routing, every: turn}
  future: {a: [1, 2.5, null]}
layers:
  - name: soul
"""
    draft = read_folder(BRIEF, text.encode(), "user")
    brief = draft.brief
    assert (brief.name, brief.line, draft.prompt_file) == ("Kiri", 1, None)
    assert brief.description == "A careful research assistant."
    assert brief.prompt == "You are Kiri.\n\nBe concise."
    assert (brief.objective, brief.role, brief.model) == ("Find the source.", "routing", "openai:some-model")
    assert brief.notebook is not None
    assert brief.notebook["future"] == {"a": [1, 2.5, None]}
    assert dict(brief.extra) == {"layers": [{"name": "soul"}]}
    assert brief.may_brake
    assert brief.warnings == ()


def test_a_markdown_file_s_body_is_the_prompt() -> None:
    text = "---\nname: Kiri\npersona: true\nmood: calm\n---\n\n# Kiri\n\n---\nBe concise.\n"
    brief = read_markdown(NOTE, text.encode(), "project")
    assert brief is not None
    assert (brief.name, brief.line, brief.origin) == ("Kiri", 2, "project")
    assert brief.prompt == "# Kiri\n\n---\nBe concise."
    assert dict(brief.extra) == {"mood": "calm"}


def test_windows_line_ends_and_a_byte_order_mark_are_read() -> None:
    brief = read_markdown(NOTE, b"\xef\xbb\xbf---\r\nname: Kiri\r\npersona: true\r\n---\r\nA\r\nB\r\n", "user")
    assert brief is not None
    assert brief.prompt == "A\nB"
    assert read_folder(BRIEF, b"\xef\xbb\xbfname: Kiri\r\nprompt: Hi\r\n", "user").brief.prompt == "Hi"


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n",
        "",
        "---\ntitle: a diary\n---\nx\n",
        "---\nname: x\npersona: false\n---\n",
        "--- a rule\npersona: true\n",
    ],
)
def test_markdown_that_claims_no_persona_is_none(text: str) -> None:
    assert read_markdown(NOTE, text.encode(), "user") is None


def test_a_note_that_is_no_text_at_all_is_no_persona() -> None:
    assert read_markdown(NOTE, b"---\ntitle: x\n---\n\xff", "user") is None


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("description: x\n", 1, "name"),
        ("description: x\nname: 42\n", 2, "name"),
        ("name: k\ndescription: [a]\n", 2, "description"),
        ("name: k\n\nname: j\n", 3, "twice"),
        ("name: k\nprompt: x\npromptFile: y.md\n", 3, "not both"),
        ("name: k\npromptFile: ../y.md\n", 2, "inside"),
        ("name: k\npromptFile: /etc/passwd\n", 2, "inside"),
        ("name: k\npromptFile: 'a\\b'\n", 2, "inside"),
        ("name: k\nnotebook: [pastoral]\n", 2, "notebook"),
        ("name: k\nrole: ''\n", 2, "role"),
        ("# x\nname: _shared\n", 2, "refused"),
        ("name: Default\n", 1, "refused"),
        ("name: none\n", 1, "refused"),
        ("name: NUL\n", 1, "refused"),
        ("name: com1.txt\n", 1, "refused"),
        ("name: ' '\n", 1, "refused"),
        ("name: \u0440\u0430ypal\n", 1, "refused"),
        ('name: "a\\u200bb"\n', 1, "nobody sees"),
        ('name: k\nprompt: "a\\U000E0041"\n', 2, "nobody sees"),
        ("name: k\nprompt: a\u202eb\n", 2, "nobody sees"),
        ("name: k\n# x\u200by\n", 2, "nobody sees"),
        (f"name: {'k' * 129}\n", 1, "name"),
        (f"name: k\nprompt: {'x' * (MAX_PROMPT + 1)}\n", 2, "prompt"),
    ],
)
def test_a_broken_brief_names_its_line(text: str, line: int, word: str) -> None:
    found, message = fault_of(text)
    assert (found, word in message) == (line, True), message


def test_a_brief_that_is_not_utf_8_names_its_line() -> None:
    assert fault_of(b"name: k\nprompt: \xff\n")[0] == 2


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("---\nname: k\npersona: true\nbody\n", 1, "not closed"),
        ("---\nname: k\npersona: yes\n---\n", 3, "true"),
        ("---\npersona: true\nname: [k]\n---\nx\n", 3, "name"),
        ("---\npersona: true\nname: k\nname: j\n---\nx\n", 4, "twice"),
        ("---\nname: k\npersona: true\nprompt: x\n---\n", 4, "below"),
        ("---\nname: k\npersona: true\n---\nfine\n\nhid\u200bden\n", 7, "nobody sees"),
        ("---\nname: k\npersona: true\n---\n" + "x" * (MAX_PROMPT + 1), 5, "prompt"),
    ],
)
def test_broken_front_matter_names_its_line_in_the_file(text: str, line: int, word: str) -> None:
    found, message = fault_of(text, markdown=True)
    assert (found, word in message) == (line, True), message


def test_an_unknown_role_is_named_and_does_not_stop_the_brief() -> None:
    text = "name: k\nprompt: x\nrole: fast\nnotebook:\n  extraction:\n    role: turbo\n"
    warnings = read_folder(BRIEF, text.encode(), "user").brief.warnings
    assert [(fault.line, fault.field, fault.fatal) for fault in warnings] == [
        (3, "role", False),
        (6, "notebook.extraction.role", False),
    ]
    assert all("resolves to default" in fault.message for fault in warnings)


def test_a_brief_without_a_prompt_is_read_and_named() -> None:
    brief = read_folder(BRIEF, b"name: k\n", "user").brief
    assert (brief.prompt, [fault.field for fault in brief.warnings]) == ("", ["prompt"])


def test_a_name_has_one_spelling() -> None:
    assert read_folder(BRIEF, "name: 'Jose\u0301 '\nprompt: x\n".encode(), "user").brief.name == "Jos\u00e9"

"""``persona import`` and ``persona export``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from persona_host import moving
from persona_host.commandline.options import CONTEXT, common, json_option, plain_option

if TYPE_CHECKING:
    from persona_host.place import Place

FORMATS = ("persona", "chatgpt", "claude", "hermes", "mem0", "basic-memory")


@click.command(
    "import",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona import persona-mind-2026-03-02.zip      an archive of `persona export`
  persona import chatgpt-export.zip --dry-run     what would come in
  persona import ~/.hermes/memories               MEMORY.md and USER.md
  persona import notes --from basic-memory
""",
)
@click.argument("path", metavar="FILE|DIR")
@click.option("--from", "format_", type=click.Choice(FORMATS), help="What it comes from; found out without it.")
@click.option(
    "--scope",
    type=click.Choice(("persona", "shared", "project")),
    default="persona",
    show_default=True,
    help="Where memories of other programs go.",
)
@click.option("--adopt", is_flag=True, help="Take another persona's archive in as this persona's own.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@plain_option
@json_option
@common
def import_command(
    place: Place,
    /,
    path: str,
    format_: str | None,
    scope: str,
    *,
    adopt: bool,
    dry_run: bool,
    as_json: bool,
    plain: bool,
) -> int:
    """Take in memories that another program exported, or an archive.

    Each entry is judged by itself: what looks like an order waits for you in quarantine, secrets are refused, what is
    known stays as it is. The source is never changed.
    """
    given = {"path": path, "scope": scope, "adopt": adopt, "dryRun": dry_run}
    arguments = given | ({"format": format_} if format_ else {})
    return moving.perform(place, "archive.import", arguments, as_json=as_json, plain=plain)


@click.command(
    "export",
    context_settings=CONTEXT,
    epilog="""\b
Examples:
  persona export                                  persona-mind-DATE.zip, here
  persona export memory.zip --all-personas
""",
)
@click.argument("path", metavar="[FILE]", required=False, default="")
@click.option("--all-personas", is_flag=True, help="All personas and all projects, not only what is seen here.")
@click.option("--force", is_flag=True, help="Replace a file of that name.")
@plain_option
@json_option
@common
def export_command(place: Place, /, path: str, *, all_personas: bool, force: bool, as_json: bool, plain: bool) -> int:
    """Write what is remembered here into one archive.

    Only you can read the file, but it is not encrypted. `persona import` takes it back.
    """
    arguments = {"path": path, "allPersonas": all_personas, "force": force}
    return moving.perform(place, "archive.export", arguments, as_json=as_json, plain=plain)

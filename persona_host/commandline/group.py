"""The group of all subcommands.

A subcommand is imported when it is asked for, so that none pays for another, and the list of them for none.
"""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import Any, Final

import click

from persona_hooks.speech import Voice, chosen, speaking, speaks
from persona_host.standard import guarded

speaks("persona_host")

COMMANDS = {
    "backup": ("backup_commands:backup_command", "Copy the whole profile into a new directory."),
    "chat": ("chat_command:command", "Talk, with or without a model."),
    "doctor": ("doctor_command:command", "Check plugins, models, paths and the host."),
    "export": ("moving_commands:export_command", "Write what is remembered here into one archive."),
    "import": ("moving_commands:import_command", "Take in memories that another program exported, or an archive."),
    "hook": ("hook_command:command", "Answer an event of Claude Code, which runs this itself."),
    "inject": ("inject_command:command", "Print what a model would be given."),
    "install": ("install_command:install", "Install our side of another host."),
    "mcp": ("serve_commands:mcp", "Serve the tools to an MCP client."),
    "mind": ("mind_command:command", "Do what /mind does, and print its card."),
    "restore": ("backup_commands:restore_command", "Bring the profile back as a backup holds it."),
    "stdio": ("serve_commands:stdio", "Serve another host's extension."),
    "tool": ("tool_command:command", "Call a tool as a model does; prints JSON."),
    "uninstall": ("install_command:uninstall", "Take our side of another host away."),
    "why": ("why_command:command", "Say which memories stood in the last request, and why."),
}
"""Each subcommand's place and its line in ``--help``."""


YOUNG: Final = 50_000
"""New objects after which the collector looks through them. A start makes about as many and keeps nearly all."""


def _spelt(message: str) -> str:
    from persona_host.helping import shell_text  # noqa: PLC0415 - loads the registry; few commands say anything here

    return shell_text(message)


def _meant(words: list[str]) -> str | None:
    """Return what was probably meant: a command, or one of those that stand below ``mind``."""
    from persona_hooks.commands import nearest  # noqa: PLC0415 - only a mistake needs it
    from persona_host.completing import registry_of  # noqa: PLC0415 - loads the plugins, as above

    below = [verb.command for verb in registry_of(os.environ).shown_to("person") if verb.command.startswith("mind ")]
    exact = f"mind {words[0]}"
    if exact in below:
        return exact
    return nearest(list(COMMANDS), words[:1]) or nearest(below, ["mind", *words])


class Late(click.Group):
    """A group whose commands are imported one at a time, run on standard streams that are fit for it."""

    def main(self, *args: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's own signature
        """Run the command that the words name, and end the process with its status."""
        gc.set_threshold(YOUNG)
        try:
            # What is said before there are settings to ask, or after them.
            with guarded(), speaking(Voice(lambda: (chosen(os.environ), True), _spelt)):
                return super().main(*args, **extra)
        finally:
            # All of it goes with the process; to look first for what could go alone takes as long as a small command.
            gc.freeze()

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands' names."""
        del ctx
        return list(COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the words name; where there is none, say which one was probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = _meant(args)
            if not meant:
                raise
            raise click.UsageError(f"{error.message} Did you mean `persona {meant}`?", ctx) from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one command, or None where there is none of that name."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(f"persona_host.commandline.{module}"), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(
    cls=Late,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Begin with:
  persona chat                                    talk; works without a model, too
  persona mind                                    what is remembered here
  persona mind recall "staging port"              look something up
  persona inject --prompt "which port?"           what a model would be given
Shell completion (bash; zsh and fish alike):
  eval "$(_PERSONA_COMPLETE=bash_source persona)"
""",
)
@click.version_option(package_name="persona-mind", message="%(package)s %(version)s")
def main() -> None:
    """Durable, private, correctable memory for one person and many agent hosts."""

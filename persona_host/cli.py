"""``persona``: the one command.

Claude Code runs ``persona hook`` before every prompt, so that goes its way before the command line is loaded: a prompt
waits for each import that stands above it. Everything else is the group's.
"""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command that the process's words name, and end the process with its status."""
    # A plugin of pydantic's would see every memory that is validated here; to look for one takes a while, too.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    words = sys.argv[1:]
    if len(words) == 2 and words[0] == "hook" and not words[1].startswith("-"):
        from persona_host.adapters.claude_code.hook import main as hook  # noqa: PLC0415 - see the module's docstring

        status = hook(words[1])
        # All of it goes with the process; what is to last was written to the disk before it was told of.
        os._exit(status)
    import signal  # noqa: PLC0415 - as above

    asked = signal.getsignal(signal.SIGINT)
    if asked is signal.default_int_handler:
        # Nothing is begun that would have to be put in order, and an import is no place to be interrupted in: Ctrl-C
        # ends the process like any other that loads.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from persona_host.commandline.group import main as command  # noqa: PLC0415 - as above

    # Nor has a server begun before it takes signals itself: it would go on for good where the exception is dropped.
    if asked is signal.default_int_handler and words[:1] not in (["mcp"], ["stdio"]):
        signal.signal(signal.SIGINT, asked)
    try:
        command()
    except SystemExit as ended:
        # Claude Code takes the person's prompt away at a status of 2, and shows an error at any other one.
        if words[:1] == ["hook"] and ended.code:
            raise SystemExit(0) from None
        raise


if __name__ == "__main__":
    main()

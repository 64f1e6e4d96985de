"""The subcommands of ``persona``: one module each, imported when it is asked for."""

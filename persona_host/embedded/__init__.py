"""The host that ships with the project: a conversation in a terminal, on a pipe, or one line at a time."""

"""One folder a foreign host: the Python side, and in ``bundle/`` what the host itself loads."""

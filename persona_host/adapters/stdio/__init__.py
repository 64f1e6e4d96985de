"""``persona stdio``: one session of a foreign host, served by a child process over its standard streams.

The protocol (``wire``, ``peer``) knows no host; a host's own side lies in its adapter's bundle. See docs/hosts.md.
"""

from __future__ import annotations

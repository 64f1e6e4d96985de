"""MCP: the registry's tools, readings and the memory block for any MCP client, over standard streams."""

from __future__ import annotations

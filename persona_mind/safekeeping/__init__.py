"""Erasing for good, backups, restoring, and what cloud folders left behind."""

"""Measurements, printed for people; nothing here decides whether a test passes."""

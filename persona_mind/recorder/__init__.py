"""The flight recorder: which memories stood in which request and why, as ids and numbers, never as text."""

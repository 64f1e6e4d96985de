"""Capture: what a person asks to be remembered is written before the model starts; what only sounds so is hinted."""

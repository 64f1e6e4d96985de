"""Likeness of meaning: the model that a person set, the vectors of what it has read, and the file that keeps them."""

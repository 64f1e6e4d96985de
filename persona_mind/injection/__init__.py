"""Injection: what of the memory stands in the model's next request. It reads only, and it is bounded."""

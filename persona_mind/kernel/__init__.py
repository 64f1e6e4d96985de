"""The mind's kernel: scope, identity, budget, clock. Pure; every other part of the mind may use it."""

"""How the mind fares: ``mind.doctor``, which looks at every file of it."""

"""The application: the embedded host, the adapters for other hosts, and the command line.

It reaches plugins only through entry points and the verbs they register. Nothing is imported here: ``persona hook``
runs before every prompt of a person, and mostly needs none of it.
"""

"""The application: the embedded host, the adapters for other hosts, and the command line.

It reaches plugins only through entry points and the verbs they register.
"""

from persona_hooks.speech import speaks

speaks(__name__)

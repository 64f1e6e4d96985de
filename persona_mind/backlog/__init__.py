"""The backlog: what a project means to do later, who took it, and when to be reminded of it."""

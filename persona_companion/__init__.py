"""Who is speaking: personas, the choice among them, and the live answer to "whose memory is this?".

The plugin is ``persona_companion.plugin:CompanionPlugin``. Nothing here writes a file until a person chooses a persona.
"""

"""Status: what a person sees of the mind, and the switch that turns it off."""

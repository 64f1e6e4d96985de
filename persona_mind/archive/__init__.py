"""Archives: what is remembered goes out as one file, and comes in from one, or from other programs' exports."""

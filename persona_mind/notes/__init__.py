"""Session notes: what is kept on the active branch of one conversation, and goes nowhere else."""

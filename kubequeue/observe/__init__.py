"""What a run leaves behind: a trace of every step, and metrics."""

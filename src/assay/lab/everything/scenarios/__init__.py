"""One file a scenario, under its area."""

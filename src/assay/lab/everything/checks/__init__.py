"""One file a scenario's checks, under its area."""

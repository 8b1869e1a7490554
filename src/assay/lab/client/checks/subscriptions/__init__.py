"""Listen streams."""

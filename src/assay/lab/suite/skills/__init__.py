"""Topics of the extension `skills`."""

"""Topics of the extension `apps`."""

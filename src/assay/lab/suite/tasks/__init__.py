"""Topics of the extension `tasks`."""

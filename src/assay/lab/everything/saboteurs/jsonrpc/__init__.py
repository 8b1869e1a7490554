"""Messages as such."""

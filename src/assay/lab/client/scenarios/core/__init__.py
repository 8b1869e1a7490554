"""One part a file."""

"""Tools: the list, and each kind of result."""

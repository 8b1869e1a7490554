"""Several processes that serve on one port, and the parent that watches them."""

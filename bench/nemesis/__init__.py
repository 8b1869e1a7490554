"""Kill workers while real clients call them, and check what the clients saw."""

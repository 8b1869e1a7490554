"""The scenarios of the area jrpc."""

"""The checks of the area jrpc."""

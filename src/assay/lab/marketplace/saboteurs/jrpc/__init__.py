"""The saboteurs of the area jrpc."""

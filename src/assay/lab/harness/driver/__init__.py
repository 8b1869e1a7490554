"""The driver: what scenarios use to talk to a server."""

"""The driver: the client side that scenarios use to exercise a server."""

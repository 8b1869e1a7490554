"""The handshake, and ping."""

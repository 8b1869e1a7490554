"""The handshake, and what it agrees on."""

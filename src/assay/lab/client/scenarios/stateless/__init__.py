"""Requests that describe themselves, and versions without a handshake."""

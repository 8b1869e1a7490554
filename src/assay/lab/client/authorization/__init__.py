"""Clients on their way to a token: surroundings to find it in, and what they did there."""

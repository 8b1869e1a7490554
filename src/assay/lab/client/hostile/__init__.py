"""Servers that violate the protocol, or test the limits of a client."""

"""Transports: one module or package each, for the same endpoint."""

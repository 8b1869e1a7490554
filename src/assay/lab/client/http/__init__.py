"""Streamable HTTP: methods, headers, sessions."""

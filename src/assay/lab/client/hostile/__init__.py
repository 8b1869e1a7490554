"""Servers that do not behave."""

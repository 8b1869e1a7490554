"""Logging and completion."""

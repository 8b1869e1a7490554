"""Prompts: the list, and each kind of message."""

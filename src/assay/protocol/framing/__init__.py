"""Byte streams cut into messages: newline-delimited lines and server-sent events."""

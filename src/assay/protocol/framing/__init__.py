"""Framing: byte streams split into lines, server-sent events or WebSocket frames."""

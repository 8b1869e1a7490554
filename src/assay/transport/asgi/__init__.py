"""Streamable HTTP as an ASGI application, for any ASGI server and inside any ASGI framework."""

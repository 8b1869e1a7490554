"""A small HTTP/1.1 and WebSocket server for one ASGI application."""

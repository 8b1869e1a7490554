"""The server framework: registration, dispatch and everything a handler can do."""

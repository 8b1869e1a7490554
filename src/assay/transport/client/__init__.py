"""The client's side of the transports: bytes in and out, and what ended a connection."""

"""Fuzzing: conversations generated from a server's own schemas and from the grammar of the transports."""

"""Fuzzing: conversations made up from a server's own schemas and from the grammar of the wire."""

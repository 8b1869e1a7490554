"""Functions and objects around the methods of a server."""

"""Parsers of options: from the command line to the option values of the library."""

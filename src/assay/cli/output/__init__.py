"""Printers: what a command writes to its standard streams."""

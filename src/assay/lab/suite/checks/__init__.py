"""Checks, by area."""

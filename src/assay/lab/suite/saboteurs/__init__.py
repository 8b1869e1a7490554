"""Saboteurs, by area."""

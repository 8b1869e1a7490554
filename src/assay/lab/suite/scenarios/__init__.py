"""Scenarios, by area."""

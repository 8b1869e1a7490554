"""Advice on security."""

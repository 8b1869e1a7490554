"""Ping, progress, cancellation and pages."""

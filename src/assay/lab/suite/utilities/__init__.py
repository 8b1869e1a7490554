"""Cancellation, progress, logging, pagination, completion."""

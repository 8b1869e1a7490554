"""Requests that describe themselves."""

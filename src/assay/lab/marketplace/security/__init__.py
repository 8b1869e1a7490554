"""The scenarios of the area sec."""

AREA = "sec"
"""As ids have it."""

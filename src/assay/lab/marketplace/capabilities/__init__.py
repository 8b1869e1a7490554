"""The scenarios of the area cap."""

AREA = "cap"
"""As ids have it."""

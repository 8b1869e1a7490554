"""The scenarios of the area tpt."""

AREA = "tpt"
"""As ids have it."""

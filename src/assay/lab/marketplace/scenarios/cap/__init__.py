"""The scenarios of the area cap."""

"""The checks of the area cap."""

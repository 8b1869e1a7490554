"""The saboteurs of the area cap."""

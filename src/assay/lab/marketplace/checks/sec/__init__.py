"""The checks of the area sec."""

"""The checks of the area obs."""

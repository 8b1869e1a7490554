"""The scenarios of the area obs."""

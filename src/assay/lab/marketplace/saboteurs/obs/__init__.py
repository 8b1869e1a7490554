"""The saboteurs of the area obs."""

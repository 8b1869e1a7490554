"""The saboteurs of the area sec."""

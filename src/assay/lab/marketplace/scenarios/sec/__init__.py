"""The scenarios of the area sec."""

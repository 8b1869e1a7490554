"""The saboteurs of the marketplace's profile, by area."""

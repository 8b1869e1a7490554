"""The scenarios of the marketplace's profile, by area."""

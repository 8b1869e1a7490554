"""The checks of the marketplace's profile, by area."""

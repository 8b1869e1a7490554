"""The tasks extension."""

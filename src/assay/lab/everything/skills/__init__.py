"""The skills extension."""

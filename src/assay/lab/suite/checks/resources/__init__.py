"""Resources."""

"""Event streams: reading, resuming, giving up."""

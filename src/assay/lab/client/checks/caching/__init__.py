"""What a client may keep, and for how long."""

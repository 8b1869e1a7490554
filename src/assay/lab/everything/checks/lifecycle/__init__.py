"""Opening, sessions, ping."""

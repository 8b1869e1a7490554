"""Headers that repeat the body."""

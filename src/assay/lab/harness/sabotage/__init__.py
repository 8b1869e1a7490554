"""Saboteurs: subjects with one named fault each, which prove that a check can fail."""

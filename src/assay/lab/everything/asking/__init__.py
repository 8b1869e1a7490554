"""Results that want input first."""

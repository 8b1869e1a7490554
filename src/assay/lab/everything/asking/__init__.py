"""Results that request input."""

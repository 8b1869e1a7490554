"""What a server asks its client."""

"""Headers and hosts."""

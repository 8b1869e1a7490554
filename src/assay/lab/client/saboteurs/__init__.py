"""Saboteurs of the suite about clients."""

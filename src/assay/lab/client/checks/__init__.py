"""Checks of the suite about clients."""

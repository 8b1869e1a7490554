"""Scenarios of the suite about clients."""

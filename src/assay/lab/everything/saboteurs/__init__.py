"""Faults that the scenarios of each area must expose."""

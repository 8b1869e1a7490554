"""Faults put to work: between the driver and a healthy server, or in its place."""

"""Stored traffic in the formats of other tools: one module for each, a function of a run and its traces."""

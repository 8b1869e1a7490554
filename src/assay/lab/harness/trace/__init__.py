"""Traces: the recorded frames, and what they mean together."""

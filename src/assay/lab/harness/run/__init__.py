"""Runs: planned, executed, stored, compared and judged again."""

"""Benchmarks against other MCP libraries on the same machine: `make bench`, `make bench-quick`.

Each subject runs in a separate process and virtual environment. Results are compared as ratios.
"""

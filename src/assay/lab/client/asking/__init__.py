"""Requests of servers to clients: elicitation, sampling, roots, and results that ask for input."""

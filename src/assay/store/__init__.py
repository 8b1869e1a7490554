"""Storage of sessions and stream events: ports, and one module per implementation."""

"""Lines on stdio, and the process that a client starts."""

"""The reference server: every capability of MCP, to test clients with.

Written with the public names of `assay` only, one module per concern.
"""

from .assembly import make_server

__all__ = ["make_server"]

"""The reference server: every capability at work, for people who test their clients.

Written with the public names of `assay` only, one file for each concern.
"""

from .assembly import make_server

__all__ = ["make_server"]

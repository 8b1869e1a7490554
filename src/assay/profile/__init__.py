"""The marketplace profile for servers: effects, retention, provenance, versions, manifests and a ledger."""

from .profile import Profile

__all__ = ["Profile"]

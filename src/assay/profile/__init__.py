"""What a marketplace asks of a server: effects, retention, provenance, versions, manifests, a ledger."""

from .profile import Profile

__all__ = ["Profile"]

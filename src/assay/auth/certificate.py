"""Certificates that clients show, as tokens are bound to them (RFC 8705)."""

from __future__ import annotations

from hashlib import sha256
from ssl import PEM_cert_to_DER_cert
from typing import Any

from .signature import encode64


def shown_certificate(asgi: Any) -> str | None:
    """What the client has shown, in PEM, where the server tells (ASGI's TLS extension)."""
    tls = (asgi.get("extensions") or {}).get("tls") or {}
    return None if tls.get("client_cert_error") else next(iter(tls.get("client_cert_chain") or ()), None)


def fingerprint(pem: str | None) -> str | None:
    """What `x5t#S256` says of it."""
    return None if pem is None else encode64(sha256(PEM_cert_to_DER_cert(pem)).digest())

"""Client certificates, for tokens that are bound to one (RFC 8705)."""

from __future__ import annotations

from hashlib import sha256
from ssl import PEM_cert_to_DER_cert
from typing import Any

from .signature import encode64


def client_certificate(asgi: Any) -> str | None:
    """The client's certificate in PEM, if the server provides it (ASGI's TLS extension) and verified it."""
    tls = (asgi.get("extensions") or {}).get("tls") or {}
    # The first is the client's own; the others only prove who issued it.
    return None if tls.get("client_cert_error") else next(iter(tls.get("client_cert_chain") or ()), None)


def certificate_thumbprint(pem: str | None) -> str | None:
    """The `x5t#S256` value: SHA-256 over the DER encoding (RFC 8705, 3.1)."""
    return None if pem is None else encode64(sha256(PEM_cert_to_DER_cert(pem)).digest())

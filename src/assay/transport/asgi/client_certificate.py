"""The principal of a client certificate, where no host has authenticated the caller."""

from __future__ import annotations

from hashlib import sha256
from ssl import PEM_cert_to_DER_cert
from typing import Any

from assay.protocol.scope import Scope


def scope_of_certificate(extensions: Any) -> Scope | None:
    """The subject of the verified certificate (ASGI's TLS extension) as principal, or its fingerprint if the
    subject is empty."""
    tls = (extensions or {}).get("tls") or {}
    certificate = next(iter(tls.get("client_cert_chain") or ()), None)
    if certificate is None or tls.get("client_cert_error"):
        return None
    name = tls.get("client_cert_name") or f"sha256:{sha256(PEM_cert_to_DER_cert(certificate)).hexdigest()}"
    return Scope(principal=name)

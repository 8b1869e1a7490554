"""Who is asking, by the certificate that the client has shown, where nobody else has found out."""

from __future__ import annotations

from hashlib import sha256
from ssl import PEM_cert_to_DER_cert
from typing import Any

from assay.protocol.scope import Scope


def scope_of_certificate(extensions: Any) -> Scope | None:
    """The principal is the subject of the certificate that the server has verified (ASGI's TLS extension);
    its fingerprint, where it names nobody."""
    tls = (extensions or {}).get("tls") or {}
    shown = next(iter(tls.get("client_cert_chain") or ()), None)
    if shown is None or tls.get("client_cert_error"):
        return None
    name = tls.get("client_cert_name") or f"sha256:{sha256(PEM_cert_to_DER_cert(shown)).hexdigest()}"
    return Scope(principal=name)

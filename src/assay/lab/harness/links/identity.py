"""TLS identity of the driver: the authorities it trusts and the client certificate it presents."""

from __future__ import annotations

import ssl
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from assay.lab.harness.subject.bearer import NONE, STRANGER, USUAL

CERTIFICATE: Final = "certificate"
"""Mark of a connection with a client certificate other than the usual one; `shows` gives its kind."""
REFUSED: Final = "refused"
"""Mark of a connection that the server refused because of its credentials."""


class BadIdentity(ValueError):
    """A certificate or key file cannot be used."""


class Identity:
    def __init__(self, ca: Path | None = None, cert: Path | None = None, key: Path | None = None) -> None:
        """`ca` holds the authorities of the server's certificate instead of the system's. The key may be in
        the certificate file."""
        self._ca = ca
        self._cert = cert
        self._key = key
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def kinds(self) -> list[str]:
        """The kinds it can present; empty without a certificate, because the server may not ask for one."""
        return [] if self._cert is None else [USUAL, NONE, STRANGER]

    def context(self, kind: str = USUAL) -> ssl.SSLContext:
        """The TLS context for a connection that presents a certificate of this kind.

        Raises:
            BadIdentity: a file cannot be used.
        """
        if kind not in self._contexts:
            self._contexts[kind] = self._new_context(kind)
        return self._contexts[kind]

    def _new_context(self, kind: str) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self._ca)
        except OSError as error:
            raise BadIdentity(f"certificate authorities {self._ca}: {_reason(error)}") from error
        if kind == STRANGER:
            _load_stranger(context)
        elif kind == USUAL and self._cert is not None:
            try:
                context.load_cert_chain(self._cert, self._key, _reject_passphrase)
            except OSError as error:
                name = self._key or self._cert
                raise BadIdentity(f"certificate {self._cert} with key {name}: {_reason(error)}") from error
        return context


DEFAULT_IDENTITY: Final = Identity()
"""Trusts the system's authorities and presents no certificate."""


def _load_stranger(context: ssl.SSLContext) -> None:
    # Imported here because `cryptography` is only needed to issue certificates.
    from assay.lab.harness.sabotage.certificate_authority import Issuer

    with TemporaryDirectory(prefix="assay-stranger-") as folder:
        context.load_cert_chain(*Issuer(Path(folder), "a-stranger").issue("stranger"))


def _reject_passphrase() -> str:
    raise BadIdentity("the key is encrypted; use a key without a passphrase")


def _reason(error: OSError) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
    return f"cannot be used ({reason or error})"

"""Certificates: whose the driver trusts, and what it shows to a server that asks for one."""

from __future__ import annotations

import ssl
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from assay.lab.harness.subject.bearer import NONE, STRANGER, USUAL

CERTIFICATE: Final = "certificate"
"""The mark of a connection that shows another one than usual; `shows` says which."""
REFUSED: Final = "refused"
"""The mark of a connection that did not come about for what it showed."""


class BadIdentity(ValueError):
    """A file cannot be used; the text says which and why."""


class Identity:
    def __init__(self, ca: Path | None = None, cert: Path | None = None, key: Path | None = None) -> None:
        """`ca` are the authorities of the server's certificate, if not those that everybody trusts. The key
        may be in the file of the certificate."""
        self._ca = ca
        self._cert = cert
        self._key = key
        self._contexts: dict[str, ssl.SSLContext] = {}

    @property
    def kinds(self) -> list[str]:
        """What it can show: without a certificate of its own, nobody is known to ask for one."""
        return [] if self._cert is None else [USUAL, NONE, STRANGER]

    def context(self, kind: str = USUAL) -> ssl.SSLContext:
        """What a connection needs that shows this.

        Raises:
            BadIdentity: a file cannot be used.
        """
        if kind not in self._contexts:
            self._contexts[kind] = self._made(kind)
        return self._contexts[kind]

    def _made(self, kind: str) -> ssl.SSLContext:
        context = self._trusting()
        if kind == STRANGER:
            _show_stranger(context)
        elif kind == USUAL and self._cert is not None:
            try:
                context.load_cert_chain(self._cert, self._key, _ask_for_nothing)
            except OSError as error:
                name = self._key or self._cert
                raise BadIdentity(f"certificate {self._cert} with key {name}: {_why(error)}") from error
        return context

    def _trusting(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self._ca)
        except OSError as error:
            raise BadIdentity(f"authorities {self._ca}: {_why(error)}") from error


ANYBODY: Final = Identity()
"""Trusts whom everybody trusts, and shows nothing."""


def _show_stranger(context: ssl.SSLContext) -> None:
    # Only who is asked for certificates needs what makes them.
    from assay.lab.harness.sabotage.certificate_authority import Issuer

    with TemporaryDirectory(prefix="assay-stranger-") as folder:
        context.load_cert_chain(*Issuer(Path(folder), "a-stranger").issue("stranger"))


def _ask_for_nothing() -> str:
    raise BadIdentity("the key is encrypted; give one that needs no passphrase")


def _why(error: OSError) -> str:
    reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
    return f"it cannot be used ({reason or error})"

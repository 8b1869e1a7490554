"""TLS: a server context from files, and ASGI's TLS extension with the client's certificate."""

from __future__ import annotations

import ssl
from asyncio import BaseTransport
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Any, Final, NoReturn

from assay.model.error import TlsError

File = str | PathLike[str]
VERSIONS: Final = {"TLSv1.2": 0x0303, "TLSv1.3": 0x0304}
SHORT: Final = {
    "commonName": "CN",
    "countryName": "C",
    "domainComponent": "DC",
    "localityName": "L",
    "organizationName": "O",
    "organizationalUnitName": "OU",
    "stateOrProvinceName": "ST",
    "streetAddress": "STREET",
    "userId": "UID",
}
"""Attributes that RFC 4514 gives a short name; others keep their long one."""
Name = Sequence[Sequence[tuple[str, str]]]
"""A subject as the `ssl` module represents it: the most general part, such as the country, first."""


def make_context(cert: File | None, key: File | None, client_ca: File | None) -> ssl.SSLContext | None:
    """A context for our server; none without a certificate. With `client_ca`, clients must present a
    certificate issued by one of these authorities.

    Raises:
        TlsError: a file cannot be used; the message names the file and the reason.
    """
    if cert is None:
        if key is not None or client_ca is not None:
            raise TlsError("a key or a client authority needs a server certificate: give one")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    # Loading a chain reports a bad certificate and a bad key alike, so the certificate is checked first.
    _trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), cert, "certificate")
    _identify(context, cert, cert if key is None else key)
    if client_ca is not None:
        _trust(context, client_ca, "client authority")
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _trust(context: ssl.SSLContext, file: File, kind: str) -> None:
    try:
        context.load_verify_locations(cadata=_read(file, kind))
    except ssl.SSLError as error:
        raise TlsError(f"{kind} {fspath(file)} contains no readable PEM certificate") from error


def _identify(context: ssl.SSLContext, cert: File, key: File) -> None:
    def ask_for_passphrase() -> NoReturn:
        raise TlsError(f"key {fspath(key)} is encrypted: give one without a passphrase")

    _read(key, "key")
    try:
        context.load_cert_chain(cert, key, ask_for_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise TlsError(f"key {fspath(key)} does not belong to certificate {fspath(cert)}") from error
        reason = f" ({error.reason})" if error.reason else ""
        raise TlsError(f"key {fspath(key)} contains no usable PEM private key{reason}") from error


def _read(file: File, kind: str) -> str:
    try:
        # Anything outside ASCII is in a comment, and the `ssl` module accepts ASCII only.
        with open(file, encoding="ascii", errors="ignore") as stream:
            return stream.read()
    except OSError as error:
        raise TlsError(f"{kind} {fspath(file)}: {error.strerror or error}") from error


def tls_extension(transport: BaseTransport) -> dict[str, Any]:
    """The `extensions` entry of ASGI's TLS extension; empty without TLS."""
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    if connection is None:
        return {}
    certificate = connection.getpeercert(binary_form=True)
    verified: Any = connection.getpeercert() or {}
    details = {
        "server_cert": None,
        "client_cert_chain": () if certificate is None else (ssl.DER_cert_to_PEM_cert(certificate),),
        "client_cert_name": distinguished_name(verified["subject"]) if verified else None,
        "client_cert_error": None,
        "tls_version": VERSIONS.get(connection.version() or ""),
        "cipher_suite": None,
    }
    return {"extensions": {"tls": details}}


def distinguished_name(subject: Name) -> str:
    """A subject in the form of RFC 4514: the most specific part first."""
    parts = (
        "+".join(f"{SHORT.get(attribute, attribute)}={_escaped(value)}" for attribute, value in part)
        for part in reversed(subject)
    )
    return ",".join(parts)


def _escaped(value: str) -> str:
    """Escape by RFC 4514, 2.4, so that no value can add another attribute."""
    escaped = "".join(f"\\{letter}" if letter in ',+"\\<>;' else letter for letter in value)
    escaped = escaped.replace("\0", "\\00")
    if escaped.startswith(("#", " ")):
        escaped = f"\\{escaped}"
    return f"{escaped[:-1]}\\ " if len(value) > 1 and value.endswith(" ") else escaped

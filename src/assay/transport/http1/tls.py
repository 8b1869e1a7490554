"""TLS: a context from files, and what a connection tells of the certificate that its client has shown."""

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
"""A subject, as the `ssl` module takes it apart: from the country to the person."""


def make_context(cert: File | None, key: File | None, client_ca: File | None) -> ssl.SSLContext | None:
    """What our server needs; none if no file is given. With `client_ca`, who has no certificate of these
    authorities is not let in.

    Raises:
        TlsError: a file cannot be used; it says which, and why.
    """
    if cert is None:
        if key is not None or client_ca is not None:
            raise TlsError("a key or an authority for clients is of no use without a certificate of our own")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    _trust(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), cert, "certificate")  # for what it raises
    _identify(context, cert, cert if key is None else key)
    if client_ca is not None:
        _trust(context, client_ca, "authority for clients")
        context.verify_mode = ssl.CERT_REQUIRED
    return context


def _trust(context: ssl.SSLContext, file: File, what: str) -> None:
    try:
        context.load_verify_locations(cadata=_read(file, what))
    except ssl.SSLError as error:
        raise TlsError(f"{what} {fspath(file)}: no certificate in PEM can be read from it") from error


def _identify(context: ssl.SSLContext, cert: File, key: File) -> None:
    def ask_for_passphrase() -> NoReturn:
        raise TlsError(f"key {fspath(key)}: it is encrypted; give one that needs no passphrase")

    _read(key, "key")
    try:
        context.load_cert_chain(cert, key, ask_for_passphrase)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise TlsError(f"key {fspath(key)}: it does not belong to certificate {fspath(cert)}") from error
        reason = f" ({error.reason})" if error.reason else ""
        raise TlsError(f"key {fspath(key)}: no private key in PEM can be used from it{reason}") from error


def _read(file: File, what: str) -> str:
    try:
        # What is not ASCII is a comment, and the `ssl` module takes none of those.
        with open(file, encoding="ascii", errors="ignore") as opened:
            return opened.read()
    except OSError as error:
        raise TlsError(f"{what} {fspath(file)}: {error.strerror or error}") from error


def tell_of_tls(transport: BaseTransport) -> dict[str, Any]:
    """What ASGI's TLS extension says of a connection; nothing where there is no TLS."""
    connection: ssl.SSLObject | None = transport.get_extra_info("ssl_object")
    if connection is None:
        return {}
    shown = connection.getpeercert(binary_form=True)
    verified: Any = connection.getpeercert() or {}
    told = {
        "server_cert": None,
        "client_cert_chain": () if shown is None else (ssl.DER_cert_to_PEM_cert(shown),),
        "client_cert_name": distinguished_name(verified["subject"]) if verified else None,
        "client_cert_error": None,
        "tls_version": VERSIONS.get(connection.version() or ""),
        "cipher_suite": None,
    }
    return {"extensions": {"tls": told}}


def distinguished_name(subject: Name) -> str:
    """As RFC 4514 writes it: from the person to the country."""
    parts = (
        "+".join(f"{SHORT.get(attribute, attribute)}={_escaped(value)}" for attribute, value in part)
        for part in reversed(subject)
    )
    return ",".join(parts)


def _escaped(value: str) -> str:
    plain = "".join(f"\\{letter}" if letter in ',+"\\<>;' else letter for letter in value)
    plain = plain.replace("\0", "\\00")
    if plain.startswith(("#", " ")):
        plain = f"\\{plain}"
    return f"{plain[:-1]}\\ " if len(value) > 1 and value.endswith(" ") else plain

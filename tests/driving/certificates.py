"""Test certificates, signed by test authorities."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM = serialization.Encoding.PEM
PKCS8 = serialization.PrivateFormat.PKCS8
DAY = datetime.timedelta(days=1)


def named(*parts: tuple[x509.ObjectIdentifier, str]) -> x509.Name:
    return x509.Name([x509.NameAttribute(oid, text) for oid, text in parts])


class Pair(NamedTuple):
    """A certificate and its key, each in a file."""

    cert: Path
    key: Path


class Authority:
    """Signs certificates and writes them into a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = named((NameOID.COMMON_NAME, name))
        authority = x509.BasicConstraints(ca=True, path_length=0)
        signed = self._builder(self._name, self._key).add_extension(authority, critical=True)
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(signed.sign(self._key, hashes.SHA256()).public_bytes(PEM))

    def _builder(
        self, name: x509.Name, key: ec.EllipticCurvePrivateKey, ends: datetime.timedelta = DAY
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return x509.CertificateBuilder(
            self._name, name, key.public_key(), x509.random_serial_number(), now - DAY, now + ends
        )

    def issue(self, name: str, subject: x509.Name | None = None, ends: datetime.timedelta = DAY) -> Pair:
        """Issue a certificate for localhost, or for a client of this name."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = named((NameOID.COMMON_NAME, name)) if subject is None else subject
        here = x509.SubjectAlternativeName(
            [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        )
        signed = self._builder(subject, key, ends).add_extension(here, critical=not list(subject))
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.cert.write_bytes(signed.sign(self._key, hashes.SHA256()).public_bytes(PEM))
        pair.key.write_bytes(key.private_bytes(PEM, PKCS8, serialization.NoEncryption()))
        return pair

    def client_context(self, certificate: Pair | None = None) -> ssl.SSLContext:
        """The context of a client that trusts this authority and presents a certificate, if given."""
        context = ssl.create_default_context(cafile=self.file)
        if certificate is not None:
            context.load_cert_chain(*certificate)
        return context

"""The lab's own certificates: for servers in trials, and for a client that no server trusts."""

from __future__ import annotations

import datetime
import ipaddress
from pathlib import Path
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PEM: Final = serialization.Encoding.PEM
DAY: Final = datetime.timedelta(days=1)


class Pair(NamedTuple):
    """The files of a certificate and its key."""

    cert: Path
    key: Path


class Issuer:
    """Signs certificates that are valid for a day, and writes them into a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        constraints = x509.BasicConstraints(ca=True, path_length=0)
        builder = self._builder(self._name, self._key).add_extension(constraints, critical=True)
        self.file = folder / f"{name}-ca.pem"
        self.file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM))

    def issue(self, name: str) -> Pair:
        """A certificate for a client of that name, or for a server on this machine."""
        key = ec.generate_private_key(ec.SECP256R1())
        local = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        names = x509.SubjectAlternativeName(local)
        builder = self._builder(_named(name), key).add_extension(names, critical=False)
        pair = Pair(self._folder / f"{name}.pem", self._folder / f"{name}.key")
        pair.cert.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(PEM))
        pair.key.write_bytes(
            key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        return pair

    def _builder(self, name: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        number = x509.random_serial_number()
        return x509.CertificateBuilder(self._name, name, key.public_key(), number, now - DAY, now + DAY)


def _named(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])

"""Certificates for tests: an authority that issues them, and a bundled server that requires them."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from assay.lab.harness.links.identity import Identity
from assay.lab.harness.subject.subject import AnnouncedSubject, Subject
from assay.lab.harness.transport import Transport

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


class TestCA:
    def __init__(self, *words: str) -> None:
        """`words` is the server and its options."""
        self._words = words
        self._folder = TemporaryDirectory(prefix="assay-test-ca-")
        authority = Issuer(Path(self._folder.name), "assay-lab")
        self._ca = authority.file
        self._server = authority.issue("server")
        self.identity = Identity(self._ca, *authority.issue("driver"))

    def served(self) -> Subject:
        """The server as a separate process, on HTTP."""
        cert, key = map(str, self._server)
        tls = ("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", str(self._ca))
        words = (*self._words, "--port", "0", "--transport", str(Transport.HTTP), *tls)
        command = (sys.executable, "-m", "assay", "serve", *words)
        return AnnouncedSubject(command, transport=Transport.HTTP, identity=self.identity)

    def server_context(self) -> ssl.SSLContext:
        """The TLS context of a healthy server, which requires client certificates."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=self._ca)
        context.load_cert_chain(*self._server)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def close(self) -> None:
        self._folder.cleanup()

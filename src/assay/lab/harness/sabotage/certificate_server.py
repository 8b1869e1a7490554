"""A bundled server that requires client certificates, and the authority that issues them."""

from __future__ import annotations

import ssl
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.lab.harness.links.identity import Identity
from assay.lab.harness.subject.subject import AnnouncedSubject, Subject
from assay.lab.harness.transport import Transport

from .certificate_authority import Issuer


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

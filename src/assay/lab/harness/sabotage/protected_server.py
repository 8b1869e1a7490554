"""A bundled server that requires tokens, and the tokens for it: for trials, and for tests of the lab.

No authorization server runs: the tokens are minted here, and the server reads the public keys from a file.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import msgspec

from assay.authority.authority import Authority
from assay.authority.settings import Settings
from assay.lab.harness.run.recording import Conditions
from assay.lab.harness.subject.bearer import (
    AHEAD,
    CAPITALS,
    EXPIRED,
    FOREIGN,
    OTHER,
    OTHER_ISSUER,
    STRANGER,
    USUAL,
    WEAK,
    TokenSet,
    claims_ahead,
)
from assay.lab.harness.subject.subject import AnnouncedSubject, Subject
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.transport import Transport

REFERENCE: Final = "reference"
ISSUER: Final = "http://localhost:9000"
AUDIENCE: Final = "http://localhost/mcp"
"""Without the port, which is unknown before the server runs; it is ignored for loopback addresses."""
SCOPES: Final = ("mcp", "mcp:use")
LIFETIME: Final = 3600.0


class ProtectedServer:
    def __init__(self, *words: str) -> None:
        """`words` is the server and its options; by default the reference server."""
        self._words = words or (REFERENCE,)
        self._authority = Authority(Settings(issuer=ISSUER, audience=AUDIENCE))
        self._folder = TemporaryDirectory(prefix="assay-protected-")
        self._keys = Path(self._folder.name) / "keys.json"
        self._keys.write_bytes(msgspec.json.encode(self._authority.jwks()))
        redaction = Redaction()
        self.tokens = TokenSet(
            self._tokens(), grant=self._grant, mint=self._mint_ahead, learn=redaction.learn
        )
        self.conditions = Conditions(redaction=redaction, tokens=self.tokens)

    def _tokens(self) -> dict[str, str]:
        return {
            USUAL: self._mint("one"),
            OTHER: self._mint("two"),
            WEAK: self._mint("one", scopes=()),
            EXPIRED: self._mint("one", fault="expired-token"),
            FOREIGN: self._mint("one", fault="token-wrong-audience"),
            OTHER_ISSUER: self._mint("one", fault="token-wrong-issuer"),
            STRANGER: self._mint("one", fault="stranger-key"),
            **{kind: self._mint("one", claims=claims_ahead(kind)) for kind in AHEAD},
            CAPITALS: self._mint("one", audience="HTTP://LOCALHOST/mcp"),
        }

    def _mint(
        self,
        subject: str,
        *,
        scopes: Sequence[str] = SCOPES,
        audience: str = AUDIENCE,
        **changes: Any,
    ) -> str:
        return self._authority.mint(subject, audience=audience, scopes=scopes, lifetime=LIFETIME, **changes)

    async def _grant(self, scopes: Sequence[str]) -> str:
        return self._mint("one", scopes=scopes)

    async def _mint_ahead(self, kind: str) -> str:
        return self._mint("one", claims=claims_ahead(kind))

    def served(self, transport: Transport) -> Subject:
        """The server as a separate process that requires a token of ours."""
        auth = f"issuer={ISSUER},audience={AUDIENCE},jwks={self._keys},scopes={','.join(SCOPES)}"
        command = (sys.executable, "-m", "assay", "serve", *self._words, "--port", "0", "--auth", auth)
        return AnnouncedSubject((*command, "--transport", str(transport)), transport=transport)

    def close(self) -> None:
        self._folder.cleanup()

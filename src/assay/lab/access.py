"""Access to a protected server: headers, tokens and certificates, and their redaction."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from assay.lab.harness.links.broken_off import NoToken
from assay.lab.harness.links.identity import BadIdentity, Identity
from assay.lab.harness.subject.bearer import EXPIRED, FOREIGN, OTHER, USUAL, WEAK, TokenSet
from assay.lab.harness.subject.token_source import ClientCredentials, TokenSource
from assay.lab.harness.trace.recorder import Redaction

from .error import CannotJudge, InvalidOptions
from .options import SECRET, Access

KINDS: Final = {
    "bearer": USUAL,
    "bearer_other": OTHER,
    "bearer_weak": WEAK,
    "bearer_expired": EXPIRED,
    "bearer_foreign": FOREIGN,
}
_FOR_AUTHORITY: Final = ("audience", "client_id", "token_scope")
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_NOT_IN_A_TOKEN: Final = re.compile(r"[\x00-\x20\x7f]")


def parse_headers(lines: Iterable[str]) -> dict[str, str]:
    """Headers from `Name: value`.

    Raises:
        InvalidOptions: a line is not a header.
    """
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not _HEADER_NAME.fullmatch(name.strip()) or _CONTROL.search(line):
            raise InvalidOptions(f"not a header: {line!r}", "write it as 'Name: value'")
        headers[name.strip()] = value.strip()
    return headers


class Credentials:
    """What one server is shown, checked before anything is sent."""

    def __init__(self, access: Access, url: str | None) -> None:
        """
        Raises:
            InvalidOptions: a value cannot be used, or does not fit the others.
        """
        self._access = access
        self._url = url or ""
        if (access.headers or access.bearer or access.authority) and not url:
            problem = "headers and tokens are sent to a URL, and there is none"
            raise InvalidOptions(problem, "judge the server at its URL, or leave them out")
        tokens = self._tokens()
        self.headers = parse_headers(f"{name}: {value}" for name, value in access.headers.items())
        if USUAL in tokens:
            self.headers["Authorization"] = f"Bearer {tokens[USUAL]}"
        self.identity = self._identity()
        self.redaction = self._redaction(tokens.values())
        self.tokens = self._token_set(tokens)

    def _tokens(self) -> dict[str, str]:
        """The given tokens by kind."""
        tokens = {kind: token for name, kind in KINDS.items() if (token := getattr(self._access, name))}
        if any(_NOT_IN_A_TOKEN.search(token) for token in tokens.values()):
            raise InvalidOptions("a bearer token has no spaces or line breaks", "give the token alone")
        if tokens and self._access.authority:
            raise InvalidOptions("give --authority, or tokens of your own, not both")
        if tokens and USUAL not in tokens:
            raise InvalidOptions("bad tokens prove nothing without a good one", "give --bearer too")
        return tokens

    def _identity(self) -> Identity:
        access = self._access
        if not (access.ca or access.client_cert or access.client_key):
            return Identity()
        if not self._url.startswith(("https:", "wss:")):
            problem = "certificates are for a server on https:// or wss://, and there is none"
            raise InvalidOptions(problem, "judge the server at its URL, or leave them out")
        if access.client_key and not access.client_cert:
            raise InvalidOptions("--client-key is of no use without --client-cert", "give both")
        identity = Identity(access.ca, access.client_cert, access.client_key)
        try:
            identity.context()
        except BadIdentity as error:
            raise InvalidOptions(str(error), "the files are PEM; --client-key names the key") from error
        return identity

    def _redaction(self, tokens: Iterable[str]) -> Redaction:
        """Every credential, as a whole and without its scheme, and whatever the URL's query holds."""
        headers = self.headers
        secrets = [*tokens, *headers.values()]
        secrets += [
            value.rpartition(" ")[2] for value in headers.values()
        ]  # what follows `Bearer`, `Basic` …
        secrets += [value for _, value in parse_qsl(urlsplit(self._url).query)]
        secrets += [self._access.client_secret] if self._access.client_secret else []
        return Redaction(secrets, headers)

    def _token_set(self, tokens: Mapping[str, str]) -> TokenSet:
        if self._access.authority:
            source = self._source(self._access.authority)
            learn = self.redaction.learn
            return TokenSet(fetch=source.fetch, grant=source.grant, mint=source.mint, learn=learn)
        for name in _FOR_AUTHORITY:
            if getattr(self._access, name):
                problem = f"--{name.replace('_', '-')} is about tokens from --authority, and there is none"
                raise InvalidOptions(problem, "give --authority, or leave it out")
        return TokenSet(tokens, learn=self.redaction.learn)

    def _source(self, issuer: str) -> TokenSource:
        access = self._access
        audience = access.audience or re.sub(r"^ws", "http", self._url)
        if not access.client_id:
            return TokenSource(issuer, audience, scopes=access.token_scope, identity=self.identity)
        if not access.client_secret:
            raise InvalidOptions(f"--client-id needs its secret in the environment: {SECRET}")
        client = ClientCredentials(access.client_id, access.client_secret)
        return TokenSource(issuer, audience, client, access.token_scope, self.identity)

    async def fetch_tokens(self) -> None:
        """Get the first tokens, where an authority issues them.

        Raises:
            CannotJudge: it issues none.
        """
        try:
            await self.tokens.keep_fresh()
        except NoToken as error:
            raise no_token(error) from error


def no_token(error: NoToken) -> CannotJudge:
    return CannotJudge(str(error), "is --authority right? `assay authority` issues tokens for development")

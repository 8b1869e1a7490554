"""Authorization of the scripted client: from a challenge to a token in every request.

Grants other than authorization codes are in `oauth_grant.py`, proofs of possession in `oauth_dpop.py`.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from assay.lab.harness.sabotage.saboteur import Json, Request
from assay.lab.harness.trace.authorization import Challenge, challenges

from .failure import StepFailed
from .oauth_discovery import (
    AuthorizationServer,
    ProtectedResource,
    find_resource,
    find_server,
    origin_of,
    read_json,
)
from .oauth_dpop import WANTS_NONCE, DpopProofs
from .oauth_grant import GRANTS, by_refresh
from .oauth_identity import CALLBACK, ClientIdentity, identify
from .web import WebClient, WebResponse

if TYPE_CHECKING:
    from .client import ScriptedClient

FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")
INSUFFICIENT: Final = "insufficient_scope"
OFFLINE: Final = "offline_access"


class GrantRequest:
    """The arguments of a grant."""

    def __init__(
        self, oauth: OAuth, resource: ProtectedResource, server: AuthorizationServer, scopes: list[str]
    ) -> None:
        self.oauth = oauth
        self.client = oauth.client
        self.resource = resource
        self.server = server
        self.scopes = scopes

    @property
    def target(self) -> dict[str, str]:
        """The `resource` and `scope` parameters of authorization and token requests."""
        scope = {"scope": " ".join(self.scopes)} if self.scopes else {}
        return {"resource": self.resource.uri} | scope

    async def exchange(self, form: dict[str, str], headers: dict[str, str]) -> Json:
        """
        Raises:
            StepFailed: the token endpoint refused the request.
        """
        url = self.server.url("token_endpoint")
        response = await self.oauth.post(url, form, headers)
        answer = read_json(response.body)
        if response.status != 200 or not isinstance(answer.get("access_token"), str):
            raise StepFailed(f"no token: HTTP status {response.status} {answer.get('error', '')}")
        return answer


GrantFunction = Callable[[GrantRequest], Awaitable[Json]]
"""Returns the answer of the token endpoint."""


class OAuth:
    """The credentials of a client."""

    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self.token = ""
        self.scheme = "Bearer"
        self.scopes: list[str] = []
        """Every scope that was requested so far."""
        self.identities: dict[str, ClientIdentity] = {}
        """By issuer."""
        self.refreshes: dict[str, str] = {}
        """Refresh tokens, by issuer."""
        self.proofs = DpopProofs() if client.context.get("oauth", {}).get("dpop") else None
        self.attempts = 0

    async def authorize(self, response: WebResponse) -> None:
        """Get a token after a 401 or 403, so that the client can send its request again.

        Raises:
            StepFailed: another attempt cannot succeed.
        """
        challenge = next(iter(challenges(response.head)), Challenge("bearer", {}))
        if self._wants_nonce(response, self.client.setup.url, challenge.params):
            return
        if response.status == 403 and challenge.params.get("error") != INSUFFICIENT:
            raise StepFailed("the server refuses access for a reason that a token cannot change")
        if response.status == 403:
            self._check_step_up(challenge)
        self.attempts += 1
        if self.attempts > self.client.behaviour.most_authorizations:
            raise StepFailed(f"access refused after {self.attempts - 1} authorizations")
        resource = await find_resource(self.client, challenge)
        server = await find_server(self.client, resource.servers[0], needed=resource.has_metadata)
        request = GrantRequest(self, resource, server, self._scopes(challenge, resource, server))
        refreshed = await by_refresh(request) if response.status == 401 else None
        answer = refreshed or await self._grant(request)
        self.scopes = list(dict.fromkeys([*self.scopes, *request.scopes]))
        self.token = answer["access_token"]
        if isinstance(answer.get("refresh_token"), str):
            self.refreshes[server.issuer] = answer["refresh_token"]
        self.scheme = "DPoP" if str(answer.get("token_type", "")).lower() == "dpop" else "Bearer"

    def add_credentials(self, request: Request) -> None:
        """Add the token to a request to the endpoint, whose `target` is the whole URL here."""
        if self.token and origin_of(request.target) == origin_of(self.client.setup.url):
            request.set("Authorization", f"{self.scheme} {self.token}")
            if self.proofs is not None:
                request.set("DPoP", self.proofs.make(request.method, request.target, self.token))

    def _wants_nonce(self, response: WebResponse, url: str, error: Mapping[str, Any]) -> bool:
        """Whether to send the request again with a new nonce in its proof."""
        if self.proofs is None or error.get("error") != WANTS_NONCE:
            return False
        return self.proofs.learn(url, response)

    def _check_step_up(self, challenge: Challenge) -> None:
        """Requesting the same scopes again would loop."""
        behaviour = self.client.behaviour
        if not behaviour.steps_up or (behaviour.tracks_scopes and {*challenge.scopes} <= {*self.scopes}):
            raise StepFailed(f"insufficient scope: the server requires {' '.join(challenge.scopes)}")

    def _scopes(
        self, challenge: Challenge, resource: ProtectedResource, server: AuthorizationServer
    ) -> list[str]:
        """The scopes of the challenge, else of the resource, with earlier ones and `offline_access`."""
        behaviour = self.client.behaviour
        named = challenge.scopes if behaviour.honours_scope else []
        if behaviour.trusts_supported and resource.scopes:
            named = [scope for scope in named if scope in resource.scopes]
        earlier = self.scopes if behaviour.keeps_scopes else []
        offline = [OFFLINE] if OFFLINE in server.listed("scopes_supported") else []
        return list(dict.fromkeys([*earlier, *(named or resource.scopes), *offline]))

    def _grant(self, request: GrantRequest) -> Awaitable[Json]:
        name = self.client.context.get("oauth", {}).get("grant", "authorization_code")
        grants: dict[str, GrantFunction] = {"authorization_code": by_code, **GRANTS}
        if name not in grants:
            raise StepFailed(f"the client does not know the grant {name}")
        return grants[name](request)

    async def identity(self, server: AuthorizationServer) -> ClientIdentity:
        key = server.issuer if self.client.behaviour.separates_issuers else ""
        if key not in self.identities:
            self.identities[key] = await identify(self.client, server)
        return self.identities[key]

    async def post(self, url: str, form: dict[str, str], headers: dict[str, str]) -> WebResponse:
        """Post a form to an authorization server; retry if it requires a nonce in the DPoP proof."""
        body = urlencode(form).encode()
        response = await WebClient(self.client).fetch("POST", url, self._proved(url, headers), body)
        if self._wants_nonce(response, url, read_json(response.body)):
            response = await WebClient(self.client).fetch("POST", url, self._proved(url, headers), body)
        return response

    def _proved(self, url: str, headers: dict[str, str]) -> list[tuple[str, str]]:
        proof = {} if self.proofs is None else {"DPoP": self.proofs.make("POST", url)}
        return [FORM, *headers.items(), *proof.items()]


async def by_code(request: GrantRequest) -> Json:
    """The authorization code grant with PKCE.

    Raises:
        StepFailed: the server does not support PKCE, or its answer is invalid.
    """
    offered = request.server.listed("code_challenge_methods_supported")
    if request.server.has_metadata and "S256" not in offered and request.client.behaviour.needs_pkce:
        raise StepFailed("the authorization server does not declare support for PKCE with S256")
    identity = await request.oauth.identity(request.server)
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    query = {
        "response_type": "code",
        "client_id": identity.id,
        "redirect_uri": CALLBACK,
        "state": state,
        "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **request.target,
    }
    answer = await _consent(request, query)
    _verify(request, answer, state)
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": CALLBACK,
        "code_verifier": verifier,
        "resource": request.resource.uri,
    }
    return await request.exchange(*identity.prove(form))


async def _consent(request: GrantRequest, query: dict[str, str]) -> dict[str, str]:
    """The parameters of the redirect that the authorization endpoint answers with."""
    url = request.server.url("authorization_endpoint")
    if request.client.behaviour.opens_as_http:
        url = f"http:{url.partition(':')[2]}"
    response = await WebClient(request.client).fetch(
        "GET", f"{url}{'&' if '?' in url else '?'}{urlencode(query)}"
    )
    location = response.head.get("location") or ""
    if response.status not in (302, 303) or not location.startswith(CALLBACK):
        raise StepFailed(f"the authorization endpoint answered with HTTP status {response.status}")
    return dict(parse_qsl(urlsplit(location).query))


def _verify(request: GrantRequest, answer: dict[str, str], state: str) -> None:
    """
    Raises:
        StepFailed: `state` or `iss` do not match (RFC 9207), or the answer has no code.
    """
    behaviour, iss = request.client.behaviour, answer.get("iss")
    if behaviour.checks_state and answer.get("state") != state:
        raise StepFailed("the authorization response has a different state")
    promised = request.server.metadata.get("authorization_response_iss_parameter_supported") is True
    if iss is None and promised and behaviour.needs_iss:
        raise StepFailed("the authorization response has no iss, although the server declares it")
    comparable = iss is not None and request.server.has_metadata
    if comparable and behaviour.compares_iss and not _is_issuer(request, iss):
        raise StepFailed(f"the authorization response has iss {iss}, not {request.server.issuer}")
    if "code" not in answer:
        raise StepFailed(f"no authorization: {answer.get('error', 'neither a code nor an error')}")


def _is_issuer(request: GrantRequest, iss: str | None) -> bool:
    issuer, normalizes = request.server.issuer, request.client.behaviour.normalizes_iss
    return iss == issuer or (normalizes and (iss or "").rstrip("/") == issuer.rstrip("/"))

"""What the client does about authorization: from a challenge to a token, and the token in every request.

Grants besides authorization codes are in `oauth_more.py`, proofs of possession in `oauth_dpop.py`.
"""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from assay.lab.harness.sabotage.saboteur import Json, Request
from assay.lab.harness.trace.challenge import Challenge, challenges

from .failure import Failed
from .oauth_discovery import Resource, Server, find_resource, find_server, origin_of, read_json
from .oauth_dpop import WANTS_NONCE, Proofs
from .oauth_grant import GRANTS, by_refresh
from .oauth_identity import CALLBACK, Identity, identify
from .web import Response, Web

if TYPE_CHECKING:
    from .client import ScriptedClient

FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")
INSUFFICIENT: Final = "insufficient_scope"
OFFLINE: Final = "offline_access"


class Ask:
    """All that a grant needs to know."""

    def __init__(self, wallet: OAuth, resource: Resource, server: Server, scopes: list[str]) -> None:
        self.wallet = wallet
        self.client = wallet.client
        self.resource = resource
        self.server = server
        self.scopes = scopes

    @property
    def about(self) -> dict[str, str]:
        """What every request for authorization or a token says that it is for."""
        scope = {"scope": " ".join(self.scopes)} if self.scopes else {}
        return {"resource": self.resource.uri} | scope

    async def exchange(self, form: dict[str, str], headers: dict[str, str]) -> Json:
        """
        Raises:
            Failed: no token is given for this.
        """
        url = self.server.url("token_endpoint")
        response = await self.wallet.post(url, form, headers)
        told = read_json(response.body)
        if response.status != 200 or not isinstance(told.get("access_token"), str):
            raise Failed(f"no token: HTTP status {response.status} {told.get('error', '')}")
        return told


Grant = Callable[[Ask], Awaitable[Json]]
"""Gets the answer of the token endpoint."""


class OAuth:
    """The wallet of a client: its credentials, and how it gets them."""

    def __init__(self, client: ScriptedClient) -> None:
        self.client = client
        self.token = ""
        self.scheme = "Bearer"
        self.scopes: list[str] = []
        """All that was asked for so far."""
        self.identities: dict[str, Identity] = {}
        """By issuer."""
        self.refreshes: dict[str, str] = {}
        """Refresh tokens, by issuer."""
        self.proofs = Proofs() if client.context.get("oauth", {}).get("dpop") else None
        """With a key to which tokens are to be bound."""
        self.attempts = 0

    async def authorize(self, challenge: Response) -> None:
        """The endpoint answered 401 or 403: do what it takes, so that its request is worth sending again.

        Raises:
            Failed: it is not.
        """
        told = next(iter(challenges(challenge.head)), Challenge("bearer", {}))
        if self._wants_nonce(challenge, self.client.invitation.url, told.params):
            return
        if challenge.status == 403 and told.params.get("error") != INSUFFICIENT:
            raise Failed("the server does not let the client in, whatever it shows")
        if challenge.status == 403:
            self._look_before(told)
        self.attempts += 1
        if self.attempts > self.client.behaviour.most_authorizations:
            raise Failed(f"not let in after {self.attempts - 1} authorizations")
        resource = await find_resource(self.client, told)
        server = await find_server(self.client, resource.servers[0], needed=resource.found)
        ask = Ask(self, resource, server, self._wanted(told, resource, server))
        refreshed = await by_refresh(ask) if challenge.status == 401 else None
        answer = refreshed or await self._grant(ask)
        self.scopes = list(dict.fromkeys([*self.scopes, *ask.scopes]))
        self.token = answer["access_token"]
        if isinstance(answer.get("refresh_token"), str):
            self.refreshes[server.issuer] = answer["refresh_token"]
        self.scheme = "DPoP" if str(answer.get("token_type", "")).lower() == "dpop" else "Bearer"

    def bear(self, request: Request) -> None:
        """Put what there is into a request to the endpoint. Its `target` is the whole URL here."""
        if self.token and origin_of(request.target) == origin_of(self.client.invitation.url):
            request.set("Authorization", f"{self.scheme} {self.token}")
            if self.proofs is not None:
                request.set("DPoP", self.proofs.make(request.method, request.target, self.token))

    def _wants_nonce(self, response: Response, url: str, told: Mapping[str, Any]) -> bool:
        """Whether the request is worth sending again, with a nonce in its proof."""
        if self.proofs is None or told.get("error") != WANTS_NONCE:
            return False
        return self.proofs.learn(url, response)

    def _look_before(self, told: Challenge) -> None:
        """What was asked for already and is not enough, asking again does not help."""
        behaviour = self.client.behaviour
        if not behaviour.steps_up or (behaviour.tracks_scopes and {*told.scopes} <= {*self.scopes}):
            raise Failed(f"not enough scope: {' '.join(told.scopes)} is wanted")

    def _wanted(self, told: Challenge, resource: Resource, server: Server) -> list[str]:
        """The challenge decides; else all that the resource has; else nothing. Earlier ones are kept, and
        where the server has refresh tokens by scope, they are asked for."""
        behaviour = self.client.behaviour
        named = told.scopes if behaviour.honours_scope else []
        if behaviour.trusts_supported and resource.scopes:
            named = [one for one in named if one in resource.scopes]
        earlier = self.scopes if behaviour.keeps_scopes else []
        offline = [OFFLINE] if OFFLINE in server.says("scopes_supported") else []
        return list(dict.fromkeys([*earlier, *(named or resource.scopes), *offline]))

    def _grant(self, ask: Ask) -> Awaitable[Json]:
        name = self.client.context.get("oauth", {}).get("grant", "authorization_code")
        grants: dict[str, Grant] = {"authorization_code": by_code, **GRANTS}
        if name not in grants:
            raise Failed(f"the client does not know the grant {name}")
        return grants[name](ask)

    async def identity(self, server: Server) -> Identity:
        key = server.issuer if self.client.behaviour.keys_by_issuer else ""
        if key not in self.identities:
            self.identities[key] = await identify(self.client, server)
        return self.identities[key]

    async def post(self, url: str, form: dict[str, str], headers: dict[str, str]) -> Response:
        """A form to an endpoint of a server; once more, where that wants a nonce in the proof."""
        body = urlencode(form).encode()
        response = await Web(self.client).fetch("POST", url, self._proved(url, headers), body)
        if self._wants_nonce(response, url, read_json(response.body)):
            response = await Web(self.client).fetch("POST", url, self._proved(url, headers), body)
        return response

    def _proved(self, url: str, headers: dict[str, str]) -> list[tuple[str, str]]:
        proof = {} if self.proofs is None else {"DPoP": self.proofs.make("POST", url)}
        return [FORM, *headers.items(), *proof.items()]


async def by_code(ask: Ask) -> Json:
    """By authorization code, with PKCE.

    Raises:
        Failed: the server cannot do that safely, or its answer is not to be believed.
    """
    offered = ask.server.says("code_challenge_methods_supported")
    if ask.server.found and "S256" not in offered and ask.client.behaviour.needs_pkce:
        raise Failed("the authorization server does not say that it supports PKCE")
    identity = await ask.wallet.identity(ask.server)
    verifier, state = secrets.token_urlsafe(48), secrets.token_urlsafe(24)
    asked = {
        "response_type": "code",
        "client_id": identity.id,
        "redirect_uri": CALLBACK,
        "state": state,
        "code_challenge": urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        **ask.about,
    }
    answer = await _consent(ask, asked)
    _believe(ask, answer, state)
    form = {
        "grant_type": "authorization_code",
        "code": answer["code"],
        "redirect_uri": CALLBACK,
        "code_verifier": verifier,
        "resource": ask.resource.uri,
    }
    return await ask.exchange(*identity.prove(form))


async def _consent(ask: Ask, asked: dict[str, str]) -> dict[str, str]:
    """The answer of the authorization endpoint, as the browser would bring it."""
    url = ask.server.url("authorization_endpoint")
    if ask.client.behaviour.opens_as_http:
        url = f"http:{url.partition(':')[2]}"
    response = await Web(ask.client).fetch("GET", f"{url}{'&' if '?' in url else '?'}{urlencode(asked)}")
    where = response.head.get("location") or ""
    if response.status not in (302, 303) or not where.startswith(CALLBACK):
        raise Failed(f"the authorization endpoint answered with HTTP status {response.status}")
    return dict(parse_qsl(urlsplit(where).query))


def _believe(ask: Ask, answer: dict[str, str], state: str) -> None:
    """
    Raises:
        Failed: the answer is not to the guest's question, or not of the server that it asked, or no code.
    """
    behaviour, iss = ask.client.behaviour, answer.get("iss")
    if behaviour.checks_state and answer.get("state") != state:
        raise Failed("the authorization answer has another state")
    promised = ask.server.metadata.get("authorization_response_iss_parameter_supported") is True
    if iss is None and promised and behaviour.needs_iss:
        raise Failed("the authorization answer does not say who gave it")
    if iss is not None and behaviour.compares_iss and ask.server.found and not _same(ask, iss):
        raise Failed(f"the authorization answer is of {iss}, not of {ask.server.issuer}")
    if "code" not in answer:
        raise Failed(f"no authorization: {answer.get('error', 'no code and no error')}")


def _same(ask: Ask, iss: str) -> bool:
    issuer = ask.server.issuer
    return iss == issuer or (ask.client.behaviour.normalizes_iss and iss.rstrip("/") == issuer.rstrip("/"))

"""Checks of authorization on traces by hand: what they forgive, and what they have no opinion on."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from assay.lab.client.auth.flow import Flow, credentials, method_of
from assay.lab.client.auth.official_step import challenge_of
from assay.lab.client.auth.protected_server import LAYOUT
from assay.lab.harness.scripted_server.client_run import SETTING
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import suite_named
from assay.revisions.registry import HANDSHAKE
from tests.lab.traces import request

SUITE = suite_named("client")
URL, AS = "http://localhost:1/mcp", "http://localhost:2"
PRM = "/.well-known/oauth-protected-resource/mcp"
OAUTH, OIDC = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
LIST = json.dumps(request(1, "tools/list"))
BEARER = {"Authorization": "Bearer good"}
CHALLENGE = {"WWW-Authenticate": f'Bearer resource_metadata="http://localhost:1{PRM}"'}


class Way:
    """A trace, one HTTP exchange after the other."""

    def __init__(self, context: dict[str, Any] | None = None, **laid_out: Any) -> None:
        spot = {
            "room": "authority",
            "url": URL,
            "resource": URL,
            "metadata": f"http://localhost:1{PRM}",
            "issuer": AS,
            "authorize": f"{AS}/authorize",
            "token": f"{AS}/token",
            "register": f"{AS}/register",
            "documents": [f"{AS}{OAUTH}"],
        }
        self._frames: list[Frame] = []
        self._number = 0
        self._add(Sender.DRIVER, "host/marks", Kind.MARK, info={"label": LAYOUT, **spot, **laid_out})
        self._add(
            Sender.DRIVER, "client/process", Kind.MARK, info={"label": SETTING, "context": context or {}}
        )

    def _add(self, sender: Sender, channel: str, kind: Kind, raw: bytes = b"", info: Any = None) -> None:
        n = len(self._frames)
        self._frames.append(Frame(n, n / 1000, sender, channel, kind, raw, info or {}))

    def ask(self, room: str, line: str, body: str = "", headers: dict[str, str] | None = None) -> str:
        """A request; returns its channel."""
        self._number += 1
        channel = f"{room}/{line.partition(' ')[0].lower()}-{self._number}"
        said = {"Host": "localhost", **(headers or {})}
        raw = f"{line} HTTP/1.1\r\n{_lines(said)}\r\n{body}".encode()
        about = {} if line.endswith(" /mcp") else {"at": room}
        self._add(Sender.SUBJECT, channel, Kind.REQUEST, raw, about)
        return channel

    def tell(self, channel: str, status: int, body: str = "", headers: dict[str, str] | None = None) -> Way:
        said = {"Content-Type": "application/json", **(headers or {})}
        self._add(Sender.DRIVER, channel, Kind.HEAD, f"HTTP/1.1 {status} X\r\n{_lines(said)}\r\n".encode())
        if body:
            self._add(Sender.DRIVER, channel, Kind.BODY, body.encode())
        self._add(Sender.DRIVER, channel, Kind.END)
        return self

    def visit(self, status: int = 200, headers: dict[str, str] | None = None, **told: str) -> Way:
        return self.tell(self.ask("1", "POST /mcp", LIST, headers), status, "{}", told or None)

    def refused(self, status: int = 401, headers: dict[str, str] | None = None, more: str = "") -> Way:
        told = {"WWW-Authenticate": CHALLENGE["WWW-Authenticate"] + more}
        return self.tell(self.ask("1", "POST /mcp", LIST, headers), status, "{}", told)

    def document(self, room: str, path: str, status: int = 200, **content: Any) -> Way:
        return self.tell(self.ask(room, f"GET {path}"), status, json.dumps(content))

    def authorize(self, **said: str) -> Way:
        return self.tell(self.ask("authority", f"GET /authorize?{urlencode(said)}"), 303)

    def token(self, **said: str) -> Way:
        channel = self.ask("authority", "POST /token", urlencode(said))
        return self.tell(channel, 200, json.dumps({"access_token": "good", "token_type": "Bearer"}))

    @property
    def trace(self) -> Trace:
        return Trace(Header(HANDSHAKE[-1].date, "http", "by hand", "by-hand", closed=True), self._frames)


def _lines(headers: dict[str, str]) -> str:
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items())


def seen(check: str, way: Way) -> dict[str, bool]:
    """Each row of which something was seen, and whether it held throughout."""
    found: dict[str, bool] = {}
    for one in SUITE.checks[check].judge(way.trace):
        found[one.requirement] = found.get(one.requirement, True) and one.holds
    return found


def broken(check: str, way: Way) -> set[str]:
    return {row for row, holds in seen(check, way).items() if not holds}


# -- nothing to see ------------------------------------------------------------------------------------------


def test_a_client_that_never_came_owes_nothing() -> None:
    assert seen("auth/metadata-default", Way()) == {}


def test_a_client_that_came_and_went_owes_every_step() -> None:
    owed = broken("auth/metadata-default", Way().refused())
    assert owed == {
        "prm-pathbased-requested",
        "authorization-server-metadata",
        "client-registration",
        "authorization-request",
        "token-request",
    }


def test_a_client_that_knows_no_authorization_breaks_no_rule_of_finding_servers() -> None:
    assert seen("auth.resource-metadata", Way().refused()) == {}
    assert seen("auth.server-metadata", Way().refused()) == {}


def test_a_trace_without_authorization_shows_nothing() -> None:
    trace = Trace(Header(HANDSHAKE[-1].date, "http", "by hand", "by-hand", closed=True), [])
    checks: Sequence[str] = [name for name in SUITE.checks if name.startswith(("auth.", "auth/"))]
    assert [name for name in checks if list(SUITE.checks[name].judge(trace))] == []


# -- metadata ------------------------------------------------------------------------------------------------


def test_documents_may_be_asked_for_at_once() -> None:
    way = Way(documents=[f"{AS}{OIDC}"])
    asked = [way.ask("authority", f"GET {place}") for place in (OIDC, OAUTH)]
    way.tell(asked[0], 200, json.dumps({"issuer": AS})).tell(asked[1], 404)
    assert seen("auth.server-metadata", way) == {"AU-23": True, "AU-25": True}


def test_a_document_that_is_asked_for_after_the_answer_to_a_lower_one_is_late() -> None:
    way = Way().document("authority", OIDC, 404).document("authority", OAUTH, issuer=AS)
    assert broken("auth.server-metadata", way) == {"AU-25"}


def test_the_named_address_is_the_first() -> None:
    way = Way(metadata="http://localhost:1/custom.json")
    way.tell(
        way.ask("1", "POST /mcp", LIST),
        401,
        "{}",
        {"WWW-Authenticate": 'Bearer resource_metadata="http://localhost:1/custom.json"'},
    )
    assert broken("auth.resource-metadata", way.document("1", PRM, 404)) == {"AU-12", "AU-13"}
    # Whoever comes to it in the end has read the challenge, though late.
    assert broken("auth.resource-metadata", way.document("1", "/custom.json")) == {"AU-13"}


# -- scopes --------------------------------------------------------------------------------------------------


def test_asking_for_the_same_scope_again_is_not_wanted() -> None:
    way = Way().refused(more=', scope="admin"').authorize(scope="admin")
    way.refused(403, BEARER, more=', error="insufficient_scope", scope="admin"')
    assert seen("auth.scopes", way) == {"AU-17": True, "AU-18": True}
    assert seen("auth.retries", way) == {"AU-75": True}


def test_a_missing_scope_is_to_be_asked_for() -> None:
    way = Way().refused(more=', scope="basic"').authorize(scope="basic")
    way.refused(403, BEARER, more=', error="insufficient_scope", scope="write"')
    assert broken("auth.scopes", way) == {"AU-74"}
    assert broken("auth.scopes", way.authorize(scope="basic write")) == set()


def test_a_client_may_ask_to_stay_logged_in() -> None:
    way = Way().refused(more=', scope="basic"').authorize(scope="basic offline_access")
    assert broken("auth.scopes", way) == set()


# -- tokens --------------------------------------------------------------------------------------------------


def test_a_request_that_was_under_way_need_not_show_the_token() -> None:
    way = Way().refused().token(grant_type="authorization_code").refused().visit(headers=BEARER)
    assert broken("auth.bearing", way) == set()
    assert broken("auth.bearing", way.refused()) == {"AU-61"}


def test_two_ways_at_once_do_not_mix_up_their_verifiers() -> None:
    way = Way()
    for number in "12":
        challenge = challenge_of(f"verifier-{number}")
        channel = way.ask("authority", f"GET /authorize?{urlencode({'code_challenge': challenge})}")
        way.tell(channel, 303, headers={"Location": f"http://localhost/?code={number}"})
    for number in "12":
        way.token(grant_type="authorization_code", code=number, code_verifier=f"verifier-{number}")
    way.visit(headers=BEARER)
    found = seen("auth/metadata-var1", way)
    assert found["pkce-verifier-matches-challenge"]
    assert found["valid-bearer-token"]
    assert "AU-82" not in broken("auth.proof-key", way)


def test_what_a_browser_asks_in_advance_needs_no_token() -> None:
    way = Way().token(grant_type="authorization_code").visit(headers=BEARER)
    way.tell(way.ask("1", "OPTIONS /mcp"), 204)
    assert broken("auth.bearing", way) == set()


def test_the_scheme_is_read_in_any_case() -> None:
    way = Way().token(grant_type="authorization_code").visit(headers={"authorization": "bearer good"})
    assert seen("auth.bearing", way) == {"AU-61": True, "AU-62": True, "AU-68": True}


# -- who the client is ---------------------------------------------------------------------------------------


def registered(redirect: str) -> Way:
    way = Way()
    body = json.dumps({"redirect_uris": [redirect], "application_type": "native"})
    return way.tell(way.ask("authority", "POST /register", body), 201, json.dumps({"client_id": "me"}))


def test_ports_of_this_machine_may_differ_from_the_registered_one() -> None:
    way = registered("http://127.0.0.1:1000/callback")
    way.authorize(client_id="me", redirect_uri="http://127.0.0.1:2000/callback")
    assert seen("auth.registering", way) == {"AU-45": True, "AU-86": True}


def test_other_addresses_may_not() -> None:
    way = registered("https://client.example/callback")
    way.authorize(client_id="me", redirect_uri="https://client.example:8443/callback")
    assert broken("auth.registering", way) == {"AU-86"}


def test_credentials_may_be_percent_encoded() -> None:
    way = Way()
    way.ask("authority", "POST /token", "", {"Authorization": "Basic bXklM0FpZDpzJTIwdA=="})
    (stop,) = Flow(way.trace).token_requests
    assert (method_of(stop), credentials(stop)) == ("client_secret_basic", ("my:id", "s t"))


def test_what_is_no_base64_is_no_credentials() -> None:
    way = Way()
    way.ask("authority", "POST /token", "", {"Authorization": "Basic id:secret"})
    (stop,) = Flow(way.trace).token_requests
    assert credentials(stop) is None

"""Checks of issuers, of several authorization servers and of what they give out, on traces by hand."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

import pytest

from assay.lab.client.auth.protected_server import CIMD
from assay.lab.client.auth.registration import REGISTRY
from assay.lab.client.auth.unsafe_urls import is_safe
from tests.lab.client.auth.test_way_to_token import AS, OAUTH, Way, broken, seen

SECOND = "http://localhost:3"
BOUND = "auth.credentials-of-servers"
CALLBACK = "http://127.0.0.1:3000/callback"
ALL = {"AU-27", "AU-47", "AU-48", "AU-49"}
OFFICIAL = {
    "sep-2352-reregister-on-as-change",
    "sep-2352-no-reuse-on-as-change",
    "sep-2352-no-cross-as-credential-reuse",
}


class Ways(Way):
    """With a second authorization server."""

    def __init__(self) -> None:
        super().__init__()
        (first,) = [one for one in self.trace.frames if one.info.get("room") == "authority"]
        moved = {name: _moved(value) for name, value in first.info.items()}
        self._add(first.sender, first.channel, first.kind, info={**moved, "room": "second"})

    def register(self, room: str, name: str) -> Ways:
        self.tell(self.ask(room, "POST /register", "{}"), 201, json.dumps({"client_id": name}))
        return self

    def come(self, room: str, **said: str) -> Ways:
        self.tell(self.ask(room, f"GET /authorize?{urlencode(said)}"), 303)
        return self

    def exchange(self, room: str, told: dict[str, str], **said: str) -> Ways:
        self.tell(self.ask(room, "POST /token", urlencode(said)), 200, json.dumps(told))
        return self


def _moved(value: Any) -> Any:
    listed = [_moved(one) for one in value] if isinstance(value, list) else value
    return listed.replace(AS, SECOND) if isinstance(listed, str) else listed


def answered(code: str = "c", **answer: str) -> Way:
    """The metadata is read, and the authorization endpoint answers."""
    way = Way().document("authority", OAUTH, authorization_response_iss_parameter_supported=True)
    channel = way.ask("authority", "GET /authorize?client_id=me")
    return way.tell(channel, 303, headers={"Location": f"{CALLBACK}?{urlencode({'code': code, **answer})}"})


# -- who answers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "row"),
    [
        ({"iss": "https://attacker.example"}, "AU-52"),
        ({"iss": AS.upper()}, "AU-52"),
        ({"iss": f"{AS}/"}, "AU-54"),
        ({}, "AU-53"),
    ],
)
def test_an_answer_of_another_issuer_is_not_to_be_taken(answer: dict[str, str], row: str) -> None:
    assert seen("auth.issuer-of-answer", answered(**answer)) == {row: True}
    taken = answered(**answer).token(grant_type="authorization_code", code="c")
    assert seen("auth.issuer-of-answer", taken) == {row: False}


def test_the_right_issuer_proves_nothing() -> None:
    assert seen("auth.issuer-of-answer", answered(iss=AS).token(code="c")) == {}


def test_another_code_is_another_answer() -> None:
    way = answered(iss="https://attacker.example").token(code="of another answer")
    assert seen("auth.issuer-of-answer", way) == {"AU-52": True}


def test_who_never_read_the_metadata_knows_no_issuer() -> None:
    way = Way()
    channel = way.ask("authority", "GET /authorize?client_id=me")
    way.tell(channel, 303, headers={"Location": f"{CALLBACK}?code=c&iss=https%3A%2F%2Fattacker.example"})
    assert seen("auth.issuer-of-answer", way.token(code="c")) == {}


def test_metadata_of_the_right_issuer_may_be_used_and_of_another_not() -> None:
    right = Way().document("authority", OAUTH, issuer=AS).authorize(client_id="me")
    assert seen("auth.issuer-of-metadata", right) == {}
    other = Way().document("authority", OAUTH, issuer="https://attacker.example")
    assert seen("auth.issuer-of-metadata", other) == {"AU-26": True}
    assert broken("auth.issuer-of-metadata", other.authorize(client_id="me")) == {"AU-26"}


# -- several authorization servers ---------------------------------------------------------------------------


def first_round() -> Ways:
    told = {"access_token": "first-token", "refresh_token": "first-refresh"}
    return Ways().register("authority", "one").come("authority", client_id="one").exchange("authority", told)


def moved() -> Ways:
    told = {"access_token": "second-token", "refresh_token": "second-refresh"}
    return first_round().register("second", "two").come("second", client_id="two").exchange("second", told)


def test_a_client_at_one_server_shows_nothing() -> None:
    assert seen(BOUND, first_round()) == {}


def test_a_client_that_registers_anew_is_right() -> None:
    assert seen(BOUND, moved()) == dict.fromkeys(ALL - {"AU-47"}, True)


def test_a_client_that_comes_back_as_before_or_registers_again_is_right() -> None:
    assert seen(BOUND, moved().come("authority", client_id="one")) == dict.fromkeys(ALL, True)
    again = moved().register("authority", "three").come("authority", client_id="three")
    assert seen(BOUND, again) == dict.fromkeys(ALL, True)


def test_a_client_that_comes_back_under_its_newest_name_is_wrong() -> None:
    assert broken(BOUND, moved().come("authority", client_id="two")) == {"AU-47", "AU-48"}


def test_a_client_that_does_not_register_anew_is_wrong() -> None:
    assert broken(BOUND, first_round().come("second", client_id="one")) == {"AU-48", "AU-49"}


def test_the_address_of_a_document_is_good_everywhere() -> None:
    way = Ways().come("authority", client_id=CIMD).come("second", client_id=CIMD)
    assert seen(BOUND, way) == {}


def test_a_token_of_one_server_is_not_for_another() -> None:
    way = moved().exchange("second", {}, client_id="two", refresh_token="first-refresh")
    assert broken(BOUND, way) == {"AU-27"}


def test_the_official_check_looks_for_all_that_the_former_server_gave_out() -> None:
    def found(way: Way) -> set[str]:
        return {row for row in broken("auth/authorization-server-migration", way) if row in OFFICIAL}

    assert found(moved()) == set()
    way = moved().exchange("second", {}, client_id="two", note="first-token")
    assert found(way) == {"sep-2352-no-cross-as-credential-reuse"}
    assert found(first_round().come("second", client_id="one").visit()) == OFFICIAL


# -- refresh tokens ------------------------------------------------------------------------------------------


def test_a_refresh_token_goes_home_in_a_body() -> None:
    way = first_round().exchange("authority", {}, refresh_token="first-refresh")
    assert seen("auth.refresh-token", way) == {"AU-76": True}


@pytest.mark.parametrize(
    "line", ["GET /authorize?hint=first-refresh", "POST /token?refresh_token=first-refresh"]
)
def test_a_refresh_token_in_an_address_is_not_confidential(line: str) -> None:
    way = first_round()
    assert broken("auth.refresh-token", way.tell(way.ask("authority", line), 400)) == {"AU-76"}


def test_where_no_refresh_token_is_given_there_is_nothing_to_keep() -> None:
    assert seen("auth.refresh-token", Way().token(code="c").visit()) == {}


def test_who_registers_for_nothing_and_asks_for_nothing_shows_nothing_of_offline_access() -> None:
    rows = seen("auth/offline-access-scope", Way().authorize(client_id=CIMD, scope="mcp:basic"))
    assert not {row for row in rows if row.startswith("sep-2207")}


# -- registrations that are refused, and addresses -----------------------------------------------------------


def refused(*bodies: str) -> Way:
    way = Way()
    for body in bodies:
        way.tell(way.ask(REGISTRY, "POST /register", body), 400)
    return way


@pytest.mark.parametrize(
    ("way", "holds"),
    [
        (refused("{}"), True),
        (refused('{"application_type": "web"}', '{"application_type": "native"}'), True),
        (refused("{}").authorize(client_id=CIMD), True),
        (refused("{}").authorize(client_id="undefined"), False),
        (refused("{}").authorize(), False),
        (refused(*["{}"] * 4), False),
    ],
)
def test_a_refused_registration_is_not_overlooked(way: Way, holds: bool) -> None:
    assert seen("auth.refused-registration", way) == {"AU-46": holds}


def test_who_never_registers_is_never_refused() -> None:
    assert seen("auth.refused-registration", Way().authorize(client_id="given")) == {}


@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://as.example/authorize", True),
        ("http://localhost:1/authorize", True),
        ("http://[::1]:1/authorize", True),
        ("http://0.0.0.0:1/authorize", False),
        ("http://as.example/authorize", False),
        ("javascript://localhost:1/authorize", False),
        ("data:text/html,x", False),
        ("http://[", False),
    ],
)
def test_addresses_that_may_be_opened(address: str, safe: bool) -> None:
    assert is_safe(address) is safe

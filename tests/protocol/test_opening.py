"""How a client opens a conversation, as requests and answers without a transport."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec import Raw

from assay.model.client_error import ClientError, ConnectionFailed, InvalidAnswer, ServerError
from assay.model.definition import Implementation
from assay.protocol.opening import Agreement, Attempt, Identity, Refusal, agree, read_revision
from assay.revisions.registry import DATES, HANDSHAKE, PER_REQUEST
from assay.revisions.revision import Revision

CLIENT = Identity(Implementation("tester", "1"), {"roots": {}}, "info")
NEWEST, OLDEST = PER_REQUEST[-1], HANDSHAKE[0]


def discovery(*versions: str) -> Raw:
    meta = {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "2"}}
    return as_raw({"supportedVersions": versions, "capabilities": {"tools": {}}, "_meta": meta})


def initialized(version: str) -> Raw:
    info = {"name": "s", "version": "2"}
    return as_raw({"protocolVersion": version, "capabilities": {}, "serverInfo": info, "instructions": "hi"})


def as_raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def refusal(code: int, supported: list[str] | None = None, *, ended: bool = False) -> Refusal:
    data = None if supported is None else {"supported": supported}
    return Refusal(ServerError(code, "no", data), code, data, ended=ended)


def play(answers: list[Raw | Refusal], **options: Revision) -> tuple[Agreement, list[Attempt]]:
    steps = agree(CLIENT, **options)
    attempts = [next(steps)]
    for answer in answers[:-1]:
        attempts.append(steps.send(answer))
    with pytest.raises(StopIteration) as finished:
        steps.send(answers[-1])
    return finished.value.value, attempts


def failure(answers: list[Raw | Refusal], **options: Revision) -> Exception:
    steps = agree(CLIENT, **options)
    next(steps)
    for answer in answers[:-1]:
        steps.send(answer)
    with pytest.raises(ClientError) as caught:
        steps.send(answers[-1])
    return caught.value


def methods(attempts: list[Attempt]) -> list[tuple[str, str]]:
    return [(attempt.method, attempt.revision.date) for attempt in attempts]


def test_a_server_that_answers_the_probe_needs_no_handshake() -> None:
    agreement, attempts = play([discovery(NEWEST.date)])
    assert agreement.revision is NEWEST
    assert agreement.server_info == Implementation("s", "2")
    assert methods(attempts) == [("server/discover", NEWEST.date)]
    meta = attempts[0].params["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == NEWEST.date
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"roots": {}}
    assert meta["io.modelcontextprotocol/logLevel"] == "info"


@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, 1])
def test_any_other_error_to_the_probe_leads_to_the_handshake(code: int) -> None:
    agreement, attempts = play([refusal(code), initialized("2025-06-18")])
    assert agreement.revision.date == "2025-06-18"
    assert agreement.instructions == "hi"
    assert methods(attempts)[1] == ("initialize", HANDSHAKE[-1].date)
    assert attempts[1].params["capabilities"] == {"roots": {"listChanged": True}}


def test_a_server_that_ended_at_the_probe_gets_the_handshake_on_a_new_connection() -> None:
    ended = Refusal(ConnectionFailed("gone"), ended=True)
    _, attempts = play([ended, initialized(HANDSHAKE[-1].date)])
    assert attempts[1].fresh


@pytest.mark.parametrize("code", [-32020, -32021])
def test_errors_of_servers_without_a_handshake_are_final(code: int) -> None:
    error = failure([refusal(code)])
    assert isinstance(error, ServerError) and error.code == code


def test_an_unsupported_version_leads_to_one_that_the_server_lists() -> None:
    listed = refusal(-32022, ["1900-01-01", "2025-03-26", "2024-11-05"])
    agreement, attempts = play([listed, initialized("2025-03-26")])
    assert agreement.revision.date == "2025-03-26"
    assert methods(attempts)[1] == ("initialize", "2025-03-26")


def test_without_a_common_version_the_error_names_both_sides() -> None:
    error = failure([refusal(-32022, ["1900-01-01"])])
    assert isinstance(error, ConnectionFailed)
    assert "1900-01-01" in str(error) and NEWEST.date in str(error)


def test_a_server_that_refuses_the_handshake_but_lists_versions_is_probed_again() -> None:
    """It was too slow for the first probe, for example while it started."""
    silent = Refusal(ConnectionFailed("silent"))
    agreement, attempts = play([silent, refusal(-32601, [NEWEST.date]), discovery(NEWEST.date)])
    assert agreement.revision is NEWEST
    assert [method for method, _ in methods(attempts)] == ["server/discover", "initialize", "server/discover"]


def test_the_error_to_the_handshake_is_raised_with_the_probe_as_its_cause() -> None:
    error = failure([refusal(-32601), refusal(-32000)])
    assert isinstance(error, ServerError) and error.code == -32000
    assert isinstance(error.__cause__, ServerError)


def test_a_remembered_handshake_saves_the_probe() -> None:
    agreement, attempts = play([initialized("2025-11-25")], remembered=HANDSHAKE[-1])
    assert methods(attempts) == [("initialize", HANDSHAKE[-1].date)]
    assert agreement.revision is HANDSHAKE[-1]


def test_a_remembered_handshake_that_fails_leads_to_a_probe() -> None:
    agreement, attempts = play([refusal(-32601), discovery(NEWEST.date)], remembered=OLDEST)
    assert [method for method, _ in methods(attempts)] == ["initialize", "server/discover"]
    assert agreement.revision is NEWEST


@pytest.mark.parametrize("revision", HANDSHAKE)
def test_a_pinned_handshake_revision_is_requested_and_required(revision: Revision) -> None:
    agreement, attempts = play([initialized(revision.date)], pinned=revision)
    assert methods(attempts) == [("initialize", revision.date)]
    assert agreement.revision is revision
    other = next(each for each in HANDSHAKE if each is not revision)
    assert other.date in str(failure([initialized(other.date)], pinned=revision))


def test_a_pinned_revision_without_a_handshake_does_not_fall_back() -> None:
    assert isinstance(failure([refusal(-32601)], pinned=NEWEST), ServerError)
    assert "2025-11-25" in str(failure([refusal(-32022, ["2025-11-25"])], pinned=NEWEST))
    assert "2030-01-01" in str(failure([discovery("2030-01-01")], pinned=NEWEST))


def test_a_pinned_revision_that_a_refusal_lists_is_tried_again() -> None:
    agreement, attempts = play([refusal(-32022, [NEWEST.date]), discovery(NEWEST.date)], pinned=NEWEST)
    assert agreement.revision is NEWEST
    assert len(attempts) == 2


def test_a_discovery_without_our_version_leads_to_a_listed_one() -> None:
    agreement, attempts = play([discovery("2025-11-25"), initialized("2025-11-25")])
    assert agreement.revision is HANDSHAKE[-1]
    assert methods(attempts)[1][0] == "initialize"


def test_a_version_that_no_revision_has_is_an_error() -> None:
    assert "1999-01-01" in str(failure([refusal(-32601), initialized("1999-01-01")]))


@pytest.mark.parametrize("answer", [{}, {"supportedVersions": 1, "capabilities": {}}, [], "text"])
def test_an_invalid_discovery_leads_to_the_handshake(answer: Any) -> None:
    """Some servers answer a method that they do not know with an empty result."""
    agreement, attempts = play([as_raw(answer), initialized(OLDEST.date)])
    assert agreement.revision is OLDEST
    assert methods(attempts)[1] == ("initialize", HANDSHAKE[-1].date)


def test_an_invalid_discovery_without_a_handshake_is_the_error() -> None:
    error = failure([as_raw({}), refusal(-32601)])
    assert isinstance(error, InvalidAnswer)
    assert "supportedVersions" in str(error)


def test_a_server_without_discovery_is_recognised_by_its_status() -> None:
    """Only revisions without a handshake answer an unknown method with status 404."""
    unknown = Refusal(ServerError(-32601, "no"), -32601, None, 404)
    assert play([unknown], pinned=NEWEST)[0] == Agreement(NEWEST, {}, None)
    assert play([unknown, refusal(-32601)])[0].revision is NEWEST
    assert play([unknown, initialized("2025-11-25")])[0].revision is HANDSHAKE[-1]


def test_an_unknown_pin_names_the_known_revisions() -> None:
    with pytest.raises(ValueError, match=DATES[0]):
        read_revision("2020-01-01")

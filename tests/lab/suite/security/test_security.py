"""What the checks of security see when somebody speaks in a conversation that is not theirs."""

from collections.abc import Sequence
from typing import Any

import pytest

from assay.lab.harness.subject.bearer import NONE, OTHER, USUAL
from assay.lab.harness.trace.frame import Frame
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.admitted import call, trace
from tests.lab.suite.judging import seen
from tests.lab.traces import request

OWN = {"Mcp-Session-Id": "of-the-owner"}
RESULT = {"jsonrpc": "2.0", "id": 1, "result": {}}
OWNER = call(USUAL, 200, sent=OWN, says=RESULT)


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (call(NONE, 401), [("SEC-01", True)]),
        (call(NONE, 200, says=RESULT), [("SEC-01", False)]),
        (call(NONE, 202), [("SEC-01", False)]),
        (call(NONE, 401, sent=OWN), [("SEC-01", True), ("SEC-02", True)]),
        (call(NONE, 405, does="GET /mcp", sent=OWN), [("SEC-01", True), ("SEC-02", True)]),
        (call(NONE, 204, does="DELETE /mcp", sent=OWN), [("SEC-01", False), ("SEC-02", False)]),
        (call(NONE, 200, does="GET /.well-known/oauth-protected-resource", says={}), []),
        (call(NONE, 200, does="POST /mcp?access_token=x", says=RESULT), []),
    ],
)
def test_a_session_does_not_stand_for_a_token(
    frames: Sequence[Frame], expected: list[tuple[str, bool]]
) -> None:
    assert seen("security.every-request", trace(OWNER, [*frames])) == expected


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (call(OTHER, 404, sent=OWN), [("SEC-04", True)]),
        (call(OTHER, 200, sent=OWN, says=RESULT), [("SEC-04", False)]),
        (call(OTHER, 200, does="GET /mcp", sent=OWN), [("SEC-04", False)]),
        (call(OTHER, 200, sent={"Mcp-Session-Id": "of-the-other"}, says=RESULT), []),
        (call(OTHER, 200, says=RESULT), []),
    ],
)
def test_a_session_is_for_its_owner_only(frames: Sequence[Frame], expected: list[tuple[str, bool]]) -> None:
    assert seen("security.another-user", trace(OWNER, [*frames])) == expected


def reply(**result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


@pytest.mark.parametrize(
    ("says", "holds"),
    [
        (reply(resultType="complete", content=[]), False),
        (reply(resultType="input_required", inputRequests={}), True),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no"}}, True),
    ],
)
def test_state_of_another_user_leads_to_nothing(says: dict[str, Any], holds: bool) -> None:
    asked = reply(resultType="input_required", requestState="sealed")
    stolen = request(1, "tools/call", name="ask", requestState="sealed")
    found = trace(
        call(USUAL, 200, asks=request(1, "tools/call", name="ask"), says=asked),
        call(OTHER, 200, asks=stolen, says=says),
        revision=PER_REQUEST[-1],
    )
    assert seen("security.another-user", found) == [("SEC-04", holds)]


@pytest.mark.parametrize(
    ("ids", "holds"), [(("0b1c2d3e4f", "9a8b7c6d5e"), True), (("session-0001", "session-0002"), False)]
)
def test_session_ids_that_follow_each_other_are_found(ids: tuple[str, str], holds: bool) -> None:
    opening = request(1, "initialize")
    calls = [call(USUAL, 200, asks=opening, got={"Mcp-Session-Id": one}, says=RESULT) for one in ids]
    assert seen("security.session-ids", trace(*calls)) == [("SEC-03", holds)]

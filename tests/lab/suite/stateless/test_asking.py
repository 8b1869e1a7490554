"""Checks of results that want input first, and of the retries after them."""

import json
from typing import Any

import pytest

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.retry import forgeries
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import seen
from tests.lab.traces import request, stdio_trace

NEW = PER_REQUEST[-1]
ABLE: dict[str, Any] = {"elicitation": {}, "roots": {}}
ROOTS = {"r": {"method": "roots/list"}}
ANSWER: dict[str, Any] = {"r": {"roots": []}}
DONE = {"resultType": "complete"}
WANTS = {"resultType": "input_required", "inputRequests": ROOTS, "requestState": "s1"}
FAILED = {"code": -32602, "message": "no"}


def talk(
    *turns: tuple[dict[str, Any], dict[str, Any]], method: str = "tools/call", able: Any = ABLE
) -> Trace:
    """Calls as `(parameters, result or error)`."""
    lines: list[tuple[str, Any]] = []
    meta = {VERSION_KEY: NEW.date, CAPABILITIES_KEY: able}
    for number, (params, answer) in enumerate(turns):
        kind = "error" if "code" in answer else "result"
        lines.append((">", request(number, method, **{"_meta": meta, "name": "t", **params})))
        lines.append(("<", {"jsonrpc": "2.0", "id": number, kind: answer}))
    return stdio_trace(*lines, revision=NEW)


def broken(check: str, trace: Trace) -> set[str]:
    return {row for row, holds in seen(check, trace) if not holds}


@pytest.mark.parametrize(
    ("answer", "rows"),
    [
        (WANTS, set()),
        ({**WANTS, "ttlMs": 1}, {"CA-02"}),
        ({"resultType": "input_required"}, {"MR-05"}),
        ({"resultType": "input_required", "requestState": "s"}, set()),
        ({**WANTS, "inputRequests": {"r": {"method": "ping"}}}, {"MR-04"}),
        ({**WANTS, "inputRequests": {"r": "roots/list"}}, {"MR-04"}),
        ({**WANTS, "inputRequests": {"r": {"method": "sampling/createMessage"}}}, {"MR-06", "META-09"}),
    ],
)
def test_input_required(answer: Any, rows: set[str]) -> None:
    assert broken("stateless.input-required", talk(({}, answer))) == rows
    assert broken("stateless.input-required", talk(({}, answer), method="tools/list")) == {*rows, "MR-02"}


def test_a_key_that_is_there_twice() -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": 0, "result": WANTS})
    twice = text.replace('"r": {', '"r": {"method": "roots/list"}, "r": {', 1).encode() + b"\n"
    asked = request(0, "tools/call", name="t", _meta={CAPABILITIES_KEY: ABLE})
    trace = stdio_trace((">", asked), ("<", twice), revision=NEW)
    assert broken("stateless.input-required", trace) == {"MR-03"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            {"code": -32021, "message": "", "data": {"requiredCapabilities": {"roots": {}}}},
            [("META-10", True)],
        ),
        ({"code": -32021, "message": "", "data": {"requiredCapabilities": ["roots"]}}, [("META-10", False)]),
        ({"code": -32021, "message": ""}, [("META-10", False)]),
        ({"code": -32603, "message": ""}, [("META-10", False)]),
        (DONE, []),
    ],
)
def test_missing_capability(answer: Any, expected: Any) -> None:
    unable = {"_meta": {VERSION_KEY: NEW.date, CAPABILITIES_KEY: {"elicitation": {}}}}
    assert seen("stateless.missing-capability", talk(({}, WANTS), (unable, answer))) == expected
    assert not seen("stateless.missing-capability", talk(({}, DONE), (unable, answer)))


def given(state: str | None, answers: Any = ANSWER, **more: Any) -> dict[str, Any]:
    return {"inputResponses": answers, **({"requestState": state} if state else {}), **more}


NEEDED = (given(None), WANTS)
"""Without its state the same answers do not do: so the state matters."""
GENUINE = (given("s1"), DONE)


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        ([NEEDED, (given("forged"), FAILED), GENUINE], [("MR-08", True), ("MR-09", True)]),
        ([NEEDED, (given("forged"), {**DONE, "isError": True}), GENUINE], [("MR-08", True), ("MR-09", True)]),
        ([NEEDED, (given("forged"), DONE), GENUINE], [("MR-08", False), ("MR-09", False)]),
        ([(given(None), DONE), (given("forged"), DONE), GENUINE], []),
        ([(given("forged"), DONE), GENUINE], []),
        ([NEEDED, (given("forged"), DONE), (given("s1"), FAILED)], []),
    ],
)
def test_forged_state(attempts: Any, expected: Any) -> None:
    assert seen("stateless.request-state", talk(({}, WANTS), *attempts)) == expected


@pytest.mark.parametrize(("outcome", "holds"), [(FAILED, True), (DONE, False)])
def test_state_of_another_request(outcome: Any, holds: bool) -> None:
    other = {**WANTS, "requestState": "s2"}
    trace = talk(
        ({}, WANTS),
        (given("forged"), FAILED),
        GENUINE,
        ({"name": "u"}, other),
        (given("s2"), outcome),
    )
    assert ("MR-10", holds) in seen("stateless.request-state", trace)
    unsealed = talk(({}, WANTS), GENUINE, ({"name": "u"}, other), (given("s2"), outcome))
    assert not seen("stateless.request-state", unsealed)


@pytest.mark.parametrize(
    ("answers", "outcome", "expected"),
    [
        (ANSWER, DONE, []),
        ([ANSWER], FAILED, [("MR-21", True)]),
        ([ANSWER], WANTS, [("MR-21", False)]),
        ({"r": 42}, WANTS, [("MR-20", True)]),
        ({"r": 42}, FAILED, [("MR-20", True)]),
        ({"r": 42}, DONE, [("MR-20", False)]),
        ({**ANSWER, "x": {}}, DONE, [("MR-22", True)]),
        ({**ANSWER, "x": {}}, FAILED, [("MR-22", False)]),
        ({}, WANTS, [("MR-23", True)]),
        ({}, FAILED, [("MR-23", False)]),
        ({}, DONE, []),
    ],
)
def test_answers(answers: Any, outcome: Any, expected: Any) -> None:
    assert seen("stateless.input-responses", talk(({}, WANTS), (given("s1", answers), outcome))) == expected


def test_forgeries_differ_from_what_they_are_made_of() -> None:
    readable = "eyJzdGVwIjogMX0="
    changed, rewritten = forgeries(readable)
    assert readable not in (changed, rewritten)
    assert forgeries('{"step": 1}')[1] == '{"step": 1, "forged": true}'
    assert forgeries(f"{readable}.signature")[1].endswith(".signature")
    assert len(forgeries("opaque")) == len(forgeries("")) == 1


@pytest.mark.parametrize(
    ("outcome", "expected"), [(DONE, [("BASE-29", True)]), (FAILED, [("BASE-29", False)])]
)
def test_first_request_of_a_connection(outcome: Any, expected: Any) -> None:
    used = talk(({"name": "x"}, DONE), ({}, DONE))
    fresh = talk(({}, outcome))
    moved = [
        type(one)(len(used.frames) + one.n, one.t, one.sender, "2/lines", one.kind, one.raw)
        for one in fresh.frames
    ]
    assert seen("stateless.fresh-connection", Trace(used.header, [*used.frames, *moved])) == expected


@pytest.mark.parametrize(
    ("second", "expected"),
    [
        (({}, WANTS), [("MR-12", True)]),
        (({}, DONE), [("MR-12", True)]),
        (({}, FAILED), [("MR-12", False)]),
        (({"_meta": {CAPABILITIES_KEY: {}}}, FAILED), []),
        ((given("s1"), FAILED), []),
        (({"name": "u"}, FAILED), []),
    ],
)
def test_a_question_left_alone(second: Any, expected: Any) -> None:
    assert seen("stateless.abandoned", talk(({}, WANTS), second)) == expected

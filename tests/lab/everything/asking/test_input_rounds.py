"""Checks of fixtures that ask before they answer, on conversations written by hand."""

import json
from typing import Any

import pytest

from assay.lab.everything.asking.input_round import asking_tool
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, VERSION_KEY
from assay.lab.harness.trace.trace import Trace
from assay.revisions.registry import PER_REQUEST
from tests.lab.everything.observing import broken, held, seen
from tests.lab.traces import request, stdio_trace

NEW = PER_REQUEST[-1]
FORM = {"method": "elicitation/create", "params": {"message": "?", "requestedSchema": {"type": "object"}}}
MODEL = {"method": "sampling/createMessage", "params": {}}
ROOTS = {"method": "roots/list"}
GIVEN: dict[str, Any] = {"inputResponses": {"user_name": {"action": "accept", "content": {"name": "Alice"}}}}
DONE: dict[str, Any] = {"resultType": "complete", "content": [{"type": "text", "text": "Hello"}]}
REFUSED = {"code": -32602, "message": "no"}


def wants(state: str | None = None, **questions: Any) -> dict[str, Any]:
    kept = {} if state is None else {"requestState": state}
    return {"resultType": "input_required", "inputRequests": questions, **kept}


def talk(
    fixture: str, *turns: tuple[dict[str, Any], dict[str, Any]], able: Any = None, method: str = "tools/call"
) -> Trace:
    """Requests for a fixture as `(parameters, result or error)`."""
    lines: list[tuple[str, Any]] = []
    meta = {VERSION_KEY: NEW.date, CAPABILITIES_KEY: able or {}}
    for number, (params, answer) in enumerate(turns):
        kind = "error" if "code" in answer else "result"
        lines.append((">", request(number, method, _meta=meta, name=fixture, **params)))
        lines.append(("<", {"jsonrpc": "2.0", "id": number, kind: answer}))
    return stdio_trace(*lines, revision=NEW)


ELICITATION = "input-required-result-basic-elicitation"
FIRST, LAST = "sep-2322-elicitation-incomplete", "sep-2322-elicitation-complete"


@pytest.mark.parametrize(
    ("asked", "done", "rows"),
    [
        (wants(user_name=FORM), DONE, set()),
        (wants(other=FORM), DONE, {FIRST}),
        (wants(user_name=MODEL), DONE, {FIRST}),
        (DONE, DONE, {FIRST}),
        (REFUSED, DONE, {FIRST}),
        (wants(user_name=FORM), {**DONE, "content": []}, {LAST}),
        (wants(user_name=FORM), {**DONE, "isError": True}, {LAST}),
        (wants(user_name=FORM), wants(user_name=FORM), {LAST}),
        (wants(user_name=FORM), REFUSED, {LAST}),
    ],
)
def test_a_question_and_its_answer(asked: Any, done: Any, rows: set[str]) -> None:
    trace = talk(asking_tool("elicitation"), ({}, asked), (GIVEN, done))
    assert broken(ELICITATION, trace) == rows


def test_a_key_that_is_there_twice() -> None:
    text = json.dumps({"jsonrpc": "2.0", "id": 0, "result": wants(user_name=FORM)})
    twice = text.replace('"user_name": ', '"user_name": {}, "user_name": ').encode() + b"\n"
    asked = request(0, "tools/call", name=asking_tool("elicitation"))
    assert broken(ELICITATION, stdio_trace((">", asked), ("<", twice), revision=NEW)) == {FIRST}


def test_another_fixture_shows_nothing() -> None:
    assert seen(ELICITATION, talk("another", ({}, DONE))) == []


THREE = wants("s", user_name=FORM, greeting=MODEL, client_roots=ROOTS)


@pytest.mark.parametrize(
    ("asked", "holds"),
    [
        (THREE, True),
        (wants(user_name=FORM, greeting=MODEL, client_roots=ROOTS), False),
        (wants("s", user_name=FORM, greeting=MODEL), False),
        ({**THREE, "requestState": ""}, False),
    ],
)
def test_three_questions_at_once(asked: Any, holds: bool) -> None:
    trace = talk(asking_tool("multiple_inputs"), ({}, asked))
    assert seen("input-required-result-multiple-input-requests", trace) == [
        ("sep-2322-multiple-inputs-incomplete", holds)
    ]


@pytest.mark.parametrize(
    ("second", "third", "rows"),
    [
        (wants("s2", step2=FORM), DONE, set()),
        (wants("s1", step2=FORM), DONE, {"sep-2322-multi-round-r2"}),
        (DONE, DONE, {"sep-2322-multi-round-r2"}),
        (wants("s2", step2=FORM), wants("s3", step3=FORM), {"sep-2322-multi-round-r3"}),
    ],
)
def test_two_questions_one_after_the_other(second: Any, third: Any, rows: set[str]) -> None:
    trace = talk(asking_tool("multi_round"), ({}, wants("s1", step1=FORM)), (GIVEN, second), (GIVEN, third))
    assert broken("input-required-result-multi-round", trace) == rows


@pytest.mark.parametrize(
    ("answer", "holds"), [(wants(user_name=FORM), True), (wants(other=FORM), False), (REFUSED, False)]
)
def test_a_missing_answer_is_asked_for_again(answer: Any, holds: bool) -> None:
    trace = talk(
        asking_tool("elicitation"),
        ({}, wants(user_name=FORM)),
        ({"inputResponses": {"wrong_key": {}}}, answer),
    )
    assert seen("input-required-result-missing-input-response", trace) == [
        ("sep-2322-missing-response-rerequests", holds)
    ]


TAMPERED = "input-required-result-tampered-state"


@pytest.mark.parametrize(
    ("genuine", "forged", "holds"),
    [
        (DONE, REFUSED, True),
        (DONE, DONE, False),
        (DONE, wants("s", confirm=FORM), False),
        (DONE, {**DONE, "isError": True}, False),
        (DONE, {"code": -32601, "message": "no such method"}, False),
        (REFUSED, REFUSED, False),
    ],
)
def test_changed_state(genuine: Any, forged: Any, holds: bool) -> None:
    trace = talk(
        asking_tool("tampered_state"),
        ({}, wants("s", confirm=FORM)),
        ({"inputResponses": {}, "requestState": "s"}, genuine),
        ({"inputResponses": {}, "requestState": "s-TAMPERED"}, forged),
    )
    assert (broken(TAMPERED, trace) == set()) is holds


CAPABLE = "input-required-result-capability-check"


@pytest.mark.parametrize(
    ("able", "answer", "expected"),
    [
        ({"sampling": {}}, wants(q=MODEL), [True]),
        ({"sampling": {}}, wants(q=FORM), [False]),
        ({"sampling": {}}, wants(q=MODEL, r=ROOTS), [False]),
        ({"sampling": {}}, DONE, [False]),
        ({"elicitation": {}}, wants(q=MODEL), [False]),
        ({"elicitation": {}}, REFUSED, []),
    ],
)
def test_clients_are_asked_as_they_can_be(able: Any, answer: Any, expected: list[bool]) -> None:
    trace = talk(asking_tool("capabilities"), ({}, answer), able=able)
    assert [holds for _, holds in seen(CAPABLE, trace)] == expected


VALIDATED = "input-required-result-validate-input"
UNFIT, MALFORMED = "sep-2322-validate-input-responses", "sep-2322-error-on-protocol-error"
NUMBER: dict[str, Any] = {"inputResponses": {"user_name": 12345}}
NULL: dict[str, Any] = {"inputResponses": None}


@pytest.mark.parametrize(
    ("number", "null", "rows"),
    [
        (REFUSED, REFUSED, set()),
        (wants(user_name=FORM), wants(user_name=FORM), set()),
        (DONE, REFUSED, {UNFIT}),
        (REFUSED, DONE, {MALFORMED}),
    ],
)
def test_answers_that_are_none(number: Any, null: Any, rows: set[str]) -> None:
    trace = talk(asking_tool("elicitation"), (GIVEN, DONE), (NUMBER, number), (NULL, null))
    assert broken(VALIDATED, trace) == rows
    assert held(VALIDATED, trace) == {UNFIT, MALFORMED} - rows


def test_who_takes_no_answer_at_all_shows_nothing() -> None:
    trace = talk(asking_tool("elicitation"), (GIVEN, REFUSED), (NUMBER, REFUSED), (NULL, REFUSED))
    assert seen(VALIDATED, trace) == []


@pytest.mark.parametrize(("answer", "expected"), [(DONE, [True]), (wants(q=ROOTS), [False]), (REFUSED, [])])
def test_lists_are_answered_at_once(answer: Any, expected: list[bool]) -> None:
    trace = talk("no name", ({}, answer), method="prompts/list")
    found = seen("input-required-result-unsupported-methods", trace)
    assert [holds for _, holds in found] == expected

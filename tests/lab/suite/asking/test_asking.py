"""Checks of what servers ask, on traces written by hand and on rubbish."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY
from assay.lab.harness.driver.question import ELICIT, ROOTS, SAMPLE, URL_REQUIRED
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.asking.elicitation import credentials_in, form_problem, split_url
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.judging import SUITE, seen
from tests.lab.traces import request, result, stdio_trace

NEWEST = PER_REQUEST[-1]
FORM = {"message": "Who?", "requestedSchema": {"type": "object", "properties": {"n": {"type": "string"}}}}
PAGE = {"mode": "url", "message": "Go", "url": "https://a.example/x", "elicitationId": "1"}


def asked(
    method: str, params: Any, capabilities: Any = None, answer: Any = None, outcome: Any = None
) -> Trace:
    """A question in the middle of a call, by request."""
    return stdio_trace(
        (">", request(0, "initialize", capabilities=capabilities or {})),
        ("<", result(0)),
        (">", request(1, "tools/call", name="x")),
        ("<", {"jsonrpc": "2.0", "id": "q", "method": method, "params": params}),
        (">", result("q", **(answer or {}))),
        ("<", outcome or result(1, content=[])),
    )


def retried(method: str, params: Any, capabilities: Any, answer: Any, outcome: dict[str, Any]) -> Trace:
    """The same by retry."""
    meta = {CAPABILITIES_KEY: capabilities}
    wanted = {"resultType": "input_required", "inputRequests": {"q": {"method": method, "params": params}}}
    return stdio_trace(
        (">", request(1, "tools/call", name="x", _meta=meta)),
        ("<", result(1, **wanted)),
        (">", request(2, "tools/call", name="x", _meta=meta, inputResponses={"q": answer})),
        ("<", {"jsonrpc": "2.0", "id": 2, **outcome}),
        revision=NEWEST,
    )


@pytest.mark.parametrize(
    ("method", "params", "capabilities", "row", "holds"),
    [
        (ELICIT, FORM, {"elicitation": {}}, "EL-03", True),
        (ELICIT, FORM, {"elicitation": {"form": {}}}, "EL-03", True),
        (ELICIT, FORM, {"elicitation": {"url": {}}}, "EL-03", False),
        (ELICIT, FORM, {}, "EL-03", False),
        (ELICIT, PAGE, {"elicitation": {}}, "EL-03", False),
        (ELICIT, PAGE, {"elicitation": {"url": {}}}, "EL-03", True),
        (SAMPLE, {"messages": []}, {"sampling": {}}, "SMP-03", True),
        (SAMPLE, {"messages": [], "tools": []}, {"sampling": {}}, "SMP-03", False),
        (SAMPLE, {"toolChoice": {}}, {"sampling": {"tools": {}}}, "SMP-03", True),
        (ROOTS, {}, {"roots": {}}, "RT-08", True),
        (ROOTS, {}, {"sampling": {}}, "RT-08", False),
    ],
)
def test_questions_need_a_declaration(
    method: str, params: Any, capabilities: Any, row: str, holds: bool
) -> None:
    found = seen("asking.declared-only", asked(method, params, capabilities))
    assert dict(found)[row] is holds and len(found) == 3
    complete = {"result": {"resultType": "complete"}}
    by_retry = retried(method, params, capabilities, {}, complete)
    assert dict(seen("asking.declared-only", by_retry))[row] is holds


def test_server_that_asks_nothing_asks_nothing_wrong() -> None:
    calm = stdio_trace((">", request(1, "tools/call", name="x")), ("<", result(1)))
    assert set(seen("asking.declared-only", calm)) == {("EL-03", True), ("SMP-03", True), ("RT-08", True)}
    assert seen("asking.declared-only", stdio_trace((">", request(1, "ping")), ("<", result(1)))) == []


@pytest.mark.parametrize(
    ("params", "broken"),
    [
        (FORM, set()),
        ({**FORM, "mode": "form"}, set()),
        ({**FORM, "mode": "popup"}, {"EL-04"}),
        ({**FORM, "message": None}, {"EL-04"}),
        ({"message": "?"}, {"EL-06"}),
        ({**FORM, "message": "see http://a.example"}, {"EL-31"}),
        (PAGE, set()),
    ],
)
def test_elicitations(params: Any, broken: set[str]) -> None:
    found = seen("asking.elicitation", asked(ELICIT, params))
    assert {row for row, holds in found if not holds} == broken


CHOICE = {"type": "array", "items": {"enum": ["a"]}}


@pytest.mark.parametrize(
    ("part", "several", "plain"),
    [
        ({"type": "string", "enum": ["a"]}, False, True),
        ({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}, True, True),
        ({"type": "integer"}, False, True),
        (CHOICE, True, True),
        (CHOICE, False, False),
        ({"type": "array", "items": {"type": "object"}}, True, False),
        ({"type": "object"}, True, False),
        ({"type": ["string", "null"]}, True, False),
        ({"$ref": "#/$defs/x"}, True, False),
        ("string", True, False),
    ],
)
def test_fields_of_forms_are_plain(part: Any, several: bool, plain: bool) -> None:
    problem = form_problem({"type": "object", "properties": {"a": part}}, multi_select=several)
    assert (problem is None) is plain


@pytest.mark.parametrize("schema", [None, [], {"type": "array"}, {"type": "object"}])
def test_what_is_no_object_is_no_form(schema: Any) -> None:
    assert form_problem(schema, multi_select=True) is not None


@pytest.mark.parametrize(
    ("changed", "broken"),
    [
        ({}, set()),
        ({"elicitationId": None}, {"EL-07"}),
        ({"url": None}, {"EL-07"}),
        ({"url": "/path"}, {"EL-08"}),
        ({"url": "https://"}, {"EL-08"}),
        ({"url": "https://a.example:port/"}, {"EL-08"}),
        ({"url": "http://a.example/"}, {"EL-32"}),
        ({"url": "http://localhost:3000/"}, set()),
        ({"url": "http://192.168.1.4/x"}, set()),
        ({"url": "vscode://login"}, set()),
        ({"url": "https://me:secret@a.example/"}, {"EL-30"}),
        ({"url": "https://a.example/?Access_Token=x"}, {"EL-30"}),
        ({"url": "https://a.example/#id_token=x"}, {"EL-30"}),
        ({"url": "https://a.example/?state=access_token"}, set()),
    ],
)
def test_pages(changed: Any, broken: set[str]) -> None:
    found = seen("asking.url-mode", asked(ELICIT, {**PAGE, **changed}))
    assert {row for row, holds in found if not holds} == broken


def test_pages_have_no_id_where_the_revision_has_none() -> None:
    unnamed = {key: value for key, value in PAGE.items() if key != "elicitationId"}
    complete = {"result": {"resultType": "complete"}}
    found = seen("asking.url-mode", retried(ELICIT, unnamed, {}, {"action": "decline"}, complete))
    assert ("EL-07", True) in found and all(holds for _, holds in found)


def test_parts_of_urls() -> None:
    assert split_url("https://[::1") is None and split_url("not a url") is None
    parts = split_url("https://a.example/?password=x&a=b")
    assert parts is not None and credentials_in(parts) == ["password"]


@pytest.mark.parametrize(
    ("data", "broken"),
    [
        ({"elicitations": [PAGE]}, set()),
        ({"elicitations": []}, {"EL-20"}),
        ({"elicitations": [PAGE, FORM]}, {"EL-21"}),
        ({"elicitations": [{**PAGE, "elicitationId": None}]}, {"EL-07", "EL-21"}),
        ({"elicitations": "x"}, {"EL-20", "EL-21"}),
        (None, {"EL-20", "EL-21"}),
    ],
)
def test_error_that_requires_a_visit(data: Any, broken: set[str]) -> None:
    error = {"code": URL_REQUIRED, "message": "visit", "data": data}
    turns = ((">", request(1, "tools/call")), ("<", {"jsonrpc": "2.0", "id": 1, "error": error}))
    found = seen("asking.url-mode", stdio_trace(*turns))
    assert {row for row, holds in found if not holds} == broken


@pytest.mark.parametrize(
    ("told", "holds"), [({"elicitationId": "1"}, True), ({"elicitationId": "2"}, False), ({}, False)]
)
def test_end_of_a_visit_names_it(told: Any, holds: bool) -> None:
    trace = asked(
        ELICIT,
        PAGE,
        outcome={"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": told},
    )
    assert seen("asking.completion-notice", trace) == [("EL-17", holds)]


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


USE = {"type": "tool_use", "id": "u"}
RESULT = {"type": "tool_result", "toolUseId": "u"}
TEXT = {"type": "text", "text": "x"}


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([{"role": "user", "content": TEXT}], set()),
        ([said("assistant", USE), said("user", RESULT), said("assistant", TEXT)], set()),
        ([said("assistant", TEXT, USE), said("user", RESULT, TEXT)], {"SMP-06"}),
        ([said("assistant", USE)], {"SMP-07"}),
        ([said("assistant", USE), said("user", TEXT), said("user", RESULT)], {"SMP-07"}),
        ([said("assistant", USE, {**USE, "id": "v"}), said("user", RESULT)], {"SMP-07"}),
        ([said("system", TEXT)], {"SMP-08"}),
        ([{"role": "user"}], {"SMP-08"}),
        (["hello"], {"SMP-08"}),
    ],
)
def test_conversations_for_models(messages: Any, broken: set[str]) -> None:
    complete = {"result": {"resultType": "complete"}}
    found = seen("asking.sampling", retried(SAMPLE, {"messages": messages}, {}, {}, complete))
    assert {row for row, holds in found if not holds} == broken


WRONG = {"action": "accept", "content": {"n": 471100}}


@pytest.mark.parametrize(
    ("answer", "outcome", "expected"),
    [
        (WRONG, {"content": [{"type": "text", "text": "You are 471100"}]}, [("EL-15", False)]),
        (WRONG, {"content": [], "isError": True}, [("EL-15", True)]),
        (WRONG, {"content": []}, []),
        ({"action": "accept", "content": {"n": "Ada"}}, {"content": [{"text": "Ada"}]}, []),
        ({"action": "decline"}, {"content": []}, []),
    ],
)
def test_answers_that_do_not_fit(answer: Any, outcome: Any, expected: Any) -> None:
    assert seen("asking.misfit", asked(ELICIT, FORM, {}, answer, result(1, **outcome))) == expected


@pytest.mark.parametrize(
    ("action", "outcome", "expected"),
    [
        ("decline", {"result": {"resultType": "complete"}}, [("EL-24", True)]),
        ("cancel", {"error": {"code": -32603, "message": "boom"}}, [("EL-24", False)]),
        ("cancel", {"error": {"code": -32000, "message": "needs a name"}}, [("EL-24", True)]),
        ("accept", {"error": {"code": -32603, "message": "boom"}}, []),
    ],
)
def test_users_who_refuse(action: str, outcome: Any, expected: Any) -> None:
    assert seen("asking.refusal", retried(ELICIT, FORM, {}, {"action": action}, outcome)) == expected


WORDS = [
    "messages",
    "mode",
    "url",
    "message",
    "requestedSchema",
    "properties",
    "type",
    "content",
    "role",
    "n",
]
scraps = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(["url", "object", "tool_use", "user", "http://["]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=4),
    max_leaves=10,
)
odd = st.dictionaries(st.sampled_from(WORDS), scraps, max_size=5) | scraps


@settings(deadline=None, max_examples=50)
@given(st.sampled_from([ELICIT, SAMPLE, ROOTS]), odd, odd, st.dictionaries(st.sampled_from(WORDS), scraps))
def test_checks_survive_odd_questions(method: str, params: Any, capabilities: Any, answer: Any) -> None:
    complete = {"result": {"resultType": "complete"}}
    traces = (
        asked(method, params, capabilities, answer),
        retried(method, params, capabilities, answer, complete),
        asked(
            method,
            params,
            outcome={"jsonrpc": "2.0", "id": 1, "error": {"code": URL_REQUIRED, "data": params}},
        ),
    )
    for name in (one for one in SUITE.checks if one.startswith("asking.")):
        for trace in traces:
            assert {row for row, _ in seen(name, trace)} <= set(SUITE.checks[name].requirements)

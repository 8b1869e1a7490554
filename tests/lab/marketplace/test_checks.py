"""Checks are total: whatever is in a trace, they find something or nothing, and never raise."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.run.recording import judge
from assay.lab.harness.trace.frame import Frame, Header, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.marketplace.bad_message import NEGATIVE
from assay.lab.suites import suite_named
from assay.revisions.registry import REVISIONS
from tests.lab.suite.test_checks import METHODS, parts, values
from tests.lab.traces import stdio_trace

SUITE = suite_named("marketplace")
CHECKS = list(SUITE.checks.values())
NAMES = [NEGATIVE, "null id", "at once", "notification", "reused", "cause", "registry"]
CASES = [row.rpartition(".")[2] for check in CHECKS for row in check.requirements]
words = {
    "label": st.sampled_from(["probe", "probed", "broke off", "registry"]),
    "name": st.sampled_from(NAMES),
    "case": st.sampled_from(CASES),
    "begin": st.integers(0, 5),
    "ids": values,
    "entry": values,
    "cause": values,
}
marks = st.fixed_dictionaries({}, optional=words).map(
    lambda info: (Sender.DRIVER, "1/marks", Kind.MARK, b"", info)
)
LISTED = ["tools", "prompts", "resources", "resourceTemplates", "contents", "content", "messages", "_meta"]
odd = st.dictionaries(st.sampled_from([*LISTED, "name", "uri", "inputSchema"]), values, max_size=4)
answers = st.tuples(
    st.sampled_from([*METHODS, "prompts/list", "resources/list", "resources/read", "prompts/get"]),
    odd | values,
    st.sampled_from(["result", "error"]),
    odd | st.fixed_dictionaries({"tools": st.lists(odd, max_size=2)}) | values,
)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(parts | marks, max_size=10), st.sampled_from(REVISIONS), st.sampled_from(["stdio", "http", "ws"])
)
def test_checks_never_raise(frames: list[Any], revision: Any, transport: str) -> None:
    header = Header(revision.date, transport, "subject", "scenario", closed=True)
    trace = Trace(header, [Frame(n, float(n), *part) for n, part in enumerate(frames)])
    rows = {row for check in CHECKS for row in check.requirements}
    assert {result.id for result in judge(SUITE, CHECKS, trace)} <= rows


@settings(deadline=None, max_examples=60)
@given(st.lists(answers, min_size=1, max_size=5), st.sampled_from(REVISIONS))
def test_checks_never_raise_on_odd_answers(said: list[tuple[str, Any, str, Any]], revision: Any) -> None:
    turns: list[tuple[str, Any]] = []
    for number, (method, params, kind, content) in enumerate(said):
        turns.append((">", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        turns.append(("<", {"jsonrpc": "2.0", "id": number, kind: content}))
    found = judge(SUITE, CHECKS, stdio_trace(*turns, revision=revision))
    assert {result.verdict for result in found} <= {"SUCCESS", "FAILURE", "WARNING", "SKIPPED"}

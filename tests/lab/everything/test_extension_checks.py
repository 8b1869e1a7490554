"""The checks of extensions are total: whatever a server says of tasks and skills, they never raise."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.everything.tasks.task import DECLARED
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SUBSCRIPTION_KEY
from assay.lab.harness.run.recording import judge
from assay.lab.harness.trace.frame import Frame, Kind, Sender
from assay.lab.harness.trace.trace import Trace
from assay.lab.suite.task_message import UNSETTLED
from assay.lab.suites import suite_named
from assay.revisions.registry import PER_REQUEST
from tests.lab.traces import stdio_trace

SUITE = suite_named("everything")
CHECKS = [SUITE.checks[one.id] for one in SUITE.scenarios.values() if one.area in ("tasks", "skills")]
DECLARING = {"_meta": {CAPABILITIES_KEY: DECLARED}}
TASK = {**DECLARING, "taskId": "t"}
URI = "skill://a/b/SKILL.md"
ASKED = [
    *(
        ("tools/call", {**DECLARING, "name": name, "arguments": {"label": "quick"}})
        for name in ("greet", "failing_job")
    ),
    *(
        ("tools/call", {**DECLARING, "name": "slow_compute", "arguments": {"label": label}})
        for label in ("quick", "long")
    ),
    *(
        ("tools/call", {**DECLARING, "name": name, "arguments": {}})
        for name in ("multi_input", "confirm_delete")
    ),
    ("tools/call", {**DECLARING, "name": "test_tool_with_task", "arguments": {}, "inputResponses": {}}),
    *(
        (method, TASK)
        for method in ("tasks/get", "tasks/get", "tasks/update", "tasks/cancel", "tasks/result")
    ),
    ("tasks/update", {**TASK, "inputResponses": {"name": {}}}),
    ("subscriptions/listen", {**DECLARING, "notifications": {"taskIds": ["t"]}}),
    ("server/discover", DECLARING),
    *((method, {"uri": URI}) for method in ("skills/get", "resources/read", "resources/directory/read")),
    ("resources/directory/read", {"uri": "skill://a/b"}),
    ("skills/list", {}),
    ("skills/list", {"cursor": "1"}),
    ("resources/list", {}),
]
TASK_WORDS = """
    taskId status createdAt ttlMs pollIntervalMs result error code message resultType content
    inputRequests requestState isError method _meta notifications taskIds data
    """
SKILL_WORDS = """
    skills skill uri frontmatter name description metadata resources digest size
    contents text blob mimeType nextCursor cacheScope capabilities extensions
    """
KEYS = (TASK_WORDS + SKILL_WORDS).split()
ODD = [None, True, 0, 1.5, -1, 2**60, "", "t", "b", URI, "skill://a/b", "skill://a/b/c/d.md"]
WORDS = ["task", "complete", "working", "completed", "failed", "input_required", "dynamic"]
scalars = st.sampled_from([*ODD, *WORDS, "---\nname: b\n---\n", "2000-01-01T00:00:00Z"])
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=4)
LIKELY = [
    {"resultType": "task", "taskId": "t"},
    {"taskId": "t", "status": "completed"},
    {"skills": [{"uri": URI}]},
]
results = st.tuples(st.sampled_from([*LIKELY, {}]), objects).map(lambda pair: {**pair[1], **pair[0]}) | values
turns = st.tuples(
    st.integers(0, len(ASKED) - 1), st.sampled_from(["result", "result", "error"]), results, objects
)


@settings(deadline=None, max_examples=40)
@given(st.lists(turns, min_size=1, max_size=6), st.booleans())
def test_checks_never_raise(said: list[Any], unsettled: bool) -> None:
    frames: list[tuple[str, Any]] = []
    for number, (place, kind, content, told) in enumerate(said):
        method, params = ASKED[place]
        told = {"taskId": "t", **told, "_meta": {SUBSCRIPTION_KEY: number}}
        frames.append((">", {"jsonrpc": "2.0", "id": number, "method": method, "params": params}))
        for notice in ("notifications/subscriptions/acknowledged", "notifications/tasks"):
            frames.append(("<", {"jsonrpc": "2.0", "method": notice, "params": told}))
        frames.append(("<", {"jsonrpc": "2.0", "id": number, kind: content}))
    trace = stdio_trace(*frames, revision=PER_REQUEST[-1])
    if unsettled:
        mark = {"label": UNSETTLED, "task": "t"}
        last = Frame(len(trace.frames), 1.0, Sender.DRIVER, "1/marks", Kind.MARK, info=mark)
        trace = Trace(trace.header, [*trace.frames, last])
    assert {result.verdict for result in judge(SUITE, CHECKS, trace)} <= {
        "SUCCESS",
        "FAILURE",
        "WARNING",
        "SKIPPED",
    }

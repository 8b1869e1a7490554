"""The checks of the official scenarios are total: whatever is in a trace, they never raise."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.run.recording import judge
from assay.lab.harness.trace.frame import Frame, Header
from assay.lab.harness.trace.trace import Trace
from assay.lab.suites import suite_named
from assay.revisions.registry import REVISIONS
from tests.lab.suite.test_checks import METHODS, parts
from tests.lab.traces import stdio_trace

SUITE = suite_named("everything")
CHECKS = list(SUITE.checks.values())
VERDICTS = {"SUCCESS", "FAILURE", "WARNING", "SKIPPED"}
_NAMES = """
    test_simple_text test_image_content test_audio_content test_embedded_resource test_multiple_content_types
    test_tool_with_logging test_error_handling test_tool_with_progress test_sampling test_elicitation
    test_elicitation_sep1034_defaults test_elicitation_sep1330_enums json_schema_2020_12_tool
    test_reconnection test_missing_capability test_logging_tool test_input_required_result_elicitation
    test_simple_prompt test_prompt_with_arguments test_prompt_with_embedded_resource test_prompt_with_image
    greet slow_compute failing_job confirm_delete
    """
NAMES = _NAMES.split()
URIS = ["test://static-text", "test://static-binary", "test://template/123/data", "test://watched-resource"]
_KEYS = """
    name uri description inputSchema content contents messages role type text data blob mimeType resource
    requestedSchema properties enum enumNames oneOf anyOf items default completion values total hasMore
    tools prompts resources resourceTemplates nextCursor protocolVersion capabilities serverInfo version
    progressToken progress level action message method params isError structuredContent _meta resultType
    inputRequests requestState ttlMs cacheScope supportedVersions taskId status skills skill frontmatter
    $schema $defs address $anchor allOf if then else code error result
    """
KEYS = _KEYS.split()
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 300)
    | st.sampled_from(
        [*NAMES[:4], *URIS[:2], "text", "image", "resource", "string", "array", "task", "", "AA=="]
    )
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=15,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=5)
ASKED = [
    *(("tools/call", {"name": name}) for name in NAMES),
    *(("prompts/get", {"name": name}) for name in NAMES),
    *(("resources/read", {"uri": uri}) for uri in URIS),
    *((method, {}) for method in [*METHODS, "prompts/list", "resources/list", "resources/templates/list"]),
    *((method, {}) for method in ["resources/subscribe", "tasks/get", "tasks/cancel", "skills/list"]),
]
turns = st.tuples(st.sampled_from(ASKED), objects, st.sampled_from(["result", "error"]), objects | values)


@settings(deadline=None, max_examples=25)
@given(
    st.lists(parts, max_size=8),
    st.sampled_from(REVISIONS),
    st.sampled_from(["stdio", "http", "ws", "http-sse"]),
)
def test_checks_never_raise(frames: list[Any], revision: Any, transport: str) -> None:
    header = Header(revision.date, transport, "subject", "scenario", closed=True)
    trace = Trace(header, [Frame(n, float(n), *part) for n, part in enumerate(frames)])
    assert {result.verdict for result in judge(SUITE, CHECKS, trace)} <= VERDICTS


@settings(deadline=None, max_examples=60)
@given(st.lists(turns, min_size=1, max_size=5), objects, st.sampled_from(REVISIONS))
def test_checks_never_raise_on_odd_answers(said: list[Any], asked: Any, revision: Any) -> None:
    frames: list[tuple[str, Any]] = []
    for number, ((method, params), more, kind, content) in enumerate(said):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {**more, **params}}
        frames.append((">", request))
        frames.append(("<", {"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": asked}))
        frames.append(("<", {"jsonrpc": "2.0", "method": "notifications/message", "params": asked}))
        frames.append((">", {"jsonrpc": "2.0", "id": "q", "result": more}))
        frames.append(("<", {"jsonrpc": "2.0", "id": number, kind: content}))
    assert {
        result.verdict for result in judge(SUITE, CHECKS, stdio_trace(*frames, revision=revision))
    } <= VERDICTS

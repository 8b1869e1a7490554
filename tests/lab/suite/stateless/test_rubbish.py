"""Checks of these areas never raise, even on answers that are almost right."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.driver.choice import NOWHERE
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SERVER_KEY, SUBSCRIPTION_KEY, VERSION_KEY
from assay.lab.harness.run.recording import judge
from assay.lab.suites import protocol_suite
from assay.revisions.registry import REVISIONS
from tests.lab.traces import stdio_trace

SUITE = protocol_suite()
CHECKS = [one for one in SUITE.checks.values() if one.id.startswith(("resources.", "stateless."))]
METHODS = [
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "resources/subscribe",
    "server/discover",
    "tools/call",
    "tools/list",
    "subscriptions/listen",
    "initialize",
    "notifications/resources/updated",
    "notifications/tools/list_changed",
    "notifications/subscriptions/acknowledged",
]
KEYS = [
    "uri",
    "contents",
    "text",
    "blob",
    "resources",
    "resourceTemplates",
    "uriTemplate",
    "_meta",
    "resultType",
    "inputRequests",
    "requestState",
    "inputResponses",
    "notifications",
    "toolsListChanged",
    "resourceSubscriptions",
    "supportedVersions",
    "capabilities",
    "extensions",
    "ttlMs",
    "cacheScope",
    "nextCursor",
    "cursor",
    "name",
    "method",
    "code",
    "data",
    "supported",
    "requested",
    "requiredCapabilities",
    "traceparent",
]
KEYS += [VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY, SUBSCRIPTION_KEY]
WORDS = [
    "",
    "complete",
    "input_required",
    "a:1",
    NOWHERE,
    "roots/list",
    "file:///../etc/hosts",
    REVISIONS[-1].date,
]

values = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats(0, 1) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=14,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=6) | values
meta = st.fixed_dictionaries({VERSION_KEY: st.just(REVISIONS[-1].date), CAPABILITIES_KEY: values}) | values
asked = st.tuples(st.sampled_from(METHODS), objects, meta, st.sampled_from(["result", "error"]), objects)
notices = st.tuples(st.sampled_from(METHODS), objects)


@settings(deadline=None, max_examples=100)
@given(st.lists(asked, min_size=1, max_size=5), st.lists(notices, max_size=3), st.sampled_from(REVISIONS))
def test_checks_never_raise(said: list[Any], told: list[Any], revision: Any) -> None:
    turns: list[tuple[str, Any]] = []
    for number, (method, params, about, kind, content) in enumerate(said):
        full = {**params, "_meta": about} if isinstance(params, dict) else params
        turns.append((">", {"jsonrpc": "2.0", "id": number % 3, "method": method, "params": full}))
        turns.append(("<", {"jsonrpc": "2.0", "id": number % 3, kind: content}))
    turns += [("<", {"jsonrpc": "2.0", "method": method, "params": params}) for method, params in told]
    found = judge(SUITE, CHECKS, stdio_trace(*turns, revision=revision))
    assert {result.id for result in found} <= SUITE.checks.keys()

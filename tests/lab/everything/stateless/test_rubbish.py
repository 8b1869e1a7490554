"""Checks of these areas never raise, even on answers that are almost right."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.everything.asking.input_round import asking_tool
from assay.lab.everything.stateless.server_stateless import ASKS, LOGS, NEEDS_SAMPLING, NO_VERSION
from assay.lab.harness.driver.message_meta import CAPABILITIES_KEY, SERVER_KEY, SUBSCRIPTION_KEY, VERSION_KEY
from assay.lab.harness.run.recording import judge
from assay.lab.suite.subscription import ACKNOWLEDGED
from assay.lab.suites import suite_named
from assay.revisions.registry import PER_REQUEST
from tests.lab.suite.conversation import Said, conversation
from tests.lab.traces import stdio_trace

NEW = PER_REQUEST[-1]
SUITE = suite_named("everything")
AREAS = ("stateless", "asking", "headers")
CHECKS = [SUITE.checks[one.id] for one in SUITE.scenarios.values() if one.area in AREAS]
FIXTURES = ["elicitation", "multi_round", "tampered_state", "capabilities", "multiple_inputs"]
NAMES = [*(asking_tool(one) for one in FIXTURES), ASKS, LOGS, NEEDS_SAMPLING]
METHODS = ["tools/call", "tools/list", "prompts/get", "resources/read", "server/discover", "ping"]
METHODS += ["subscriptions/listen"]
NOTICES = [ACKNOWLEDGED, "notifications/tools/list_changed", "notifications/message"]
KEYS = ["inputRequests", "inputResponses", "requestState", "resultType", "user_name", "method", "content"]
KEYS += ["tools", "inputSchema", "properties", "x-mcp-header", "arguments", "uri", "contents", "ttlMs"]
KEYS += ["cacheScope", "supportedVersions", "capabilities", "listChanged", "notifications", "code", "data"]
KEYS += ["supported", "requested", "requiredCapabilities", "sampling", "toolsListChanged", "_meta"]
KEYS += [VERSION_KEY, CAPABILITIES_KEY, SERVER_KEY, SUBSCRIPTION_KEY]
WORDS = ["", "input_required", "complete", "sampling/createMessage", NO_VERSION, NEW.date, "nonexistent:"]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-32022, 2) | st.floats(0, 1) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=6) | values
asked = st.tuples(
    st.sampled_from(METHODS),
    st.sampled_from(NAMES) | values,
    objects,
    st.sampled_from(["result", "error"]),
    objects,
)
notices = st.tuples(st.sampled_from(NOTICES), objects)


def messages(number: int, method: str, name: Any, params: Any, kind: str, content: Any) -> tuple[Any, Any]:
    full = {**params, "name": name} if isinstance(params, dict) else params
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": full}
    return request, {"jsonrpc": "2.0", "id": number, kind: content}


@settings(deadline=None, max_examples=30)
@given(st.lists(asked, min_size=1, max_size=5), st.lists(notices, max_size=3))
def test_checks_never_raise(said: list[Any], told: list[Any]) -> None:
    pairs = [messages(number % 3, *one) for number, one in enumerate(said)]
    turns = [turn for request, reply in pairs for turn in ((">", request), ("<", reply))]
    turns += [("<", {"jsonrpc": "2.0", "method": method, "params": params}) for method, params in told]
    bodies = [Said(request, 400, reply, headers={"Mcp-Name": "x"}) for request, reply in pairs]
    for trace in (stdio_trace(*turns, revision=NEW), conversation(NEW, *bodies)):
        assert judge(SUITE, CHECKS, trace)

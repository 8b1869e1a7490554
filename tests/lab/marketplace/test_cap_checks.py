"""Whatever a server says of its capabilities, and whatever lies beside it, no check raises."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.lab.harness.run.recording import judge
from assay.lab.harness.subject.registry_entry import VERSION
from assay.lab.marketplace.capabilities.meta import EFFECTS, PROVENANCE, RETENTION
from tests.lab.marketplace.cap_judging import SUITE, trace_of

CHECKS = [check for check in SUITE.checks.values() if check.id.startswith("cap.")]
KEYS = [
    "tier",
    "alg",
    "digest",
    "over",
    "semver",
    "effects",
    "target",
    "kind",
    "id",
    "op",
    "declared",
    "ledger",
]
KEYS += ["seq", "entryHash", "argsDigest", "resultDigest", "readOnly", "name", "uri", "text", "blob"]
LISTS = ["tools", "prompts", "resources", "contents", "content", "messages", "arguments", "annotations"]
METHODS = ["tools/list", "tools/call", "resources/list", "resources/read", "prompts/list", "prompts/get"]
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 2)
    | st.sampled_from(["t", "file", "file://[", "/a", "messages"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=4),
    max_leaves=10,
)
tags = st.dictionaries(st.sampled_from([EFFECTS, PROVENANCE, RETENTION, VERSION]), values, max_size=2)
items = st.dictionaries(st.sampled_from([*KEYS, *LISTS]), values, max_size=4)
tagged = st.tuples(items, tags).map(lambda both: {**both[0], "_meta": both[1]})
contents = st.tuples(st.sampled_from(LISTS), st.lists(tagged | values, max_size=2) | values, tags).map(
    lambda three: {three[0]: three[1], "_meta": three[2]}
)
params = st.fixed_dictionaries(
    {}, optional={"name": st.just("t") | values, "uri": values, "arguments": values}
)
said = st.tuples(st.sampled_from(METHODS), params, contents)
marks = st.fixed_dictionaries(
    {"label": st.sampled_from(["disk", "registry"]), "connection": st.just("1"), "call": st.integers(0, 2)},
    optional={"created": values, "removed": st.just(["/a"]), "entry": values},
)


@settings(deadline=None, max_examples=80)
@given(st.lists(said, min_size=1, max_size=4), st.lists(marks, max_size=2))
def test_checks_of_capabilities_never_raise(spoken: list[Any], seen: list[Any]) -> None:
    found = judge(SUITE, CHECKS, trace_of(*spoken, marks=tuple(seen)))
    assert {result.verdict for result in found} <= {"SUCCESS", "FAILURE", "WARNING", "SKIPPED"}

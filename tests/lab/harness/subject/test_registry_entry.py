"""Registry entries: the profile block, and the hashes in a correct entry."""

import pytest

from assay.lab.harness.subject.registry_entry import entry_of, profile_block, summary
from assay.lab.harness.trace.digest import digest_of_json

TOOL = {"name": "b", "inputSchema": {"type": "object"}}
OTHER = {"name": "a", "inputSchema": {"type": "object", "required": ["x"]}}
PROMPT = {"name": "review", "_meta": {"dev.assay/version": {"semver": "1.2.0", "digest": "sha256:ab"}}}


def test_a_correct_entry_counts_and_hashes_each_list() -> None:
    block = profile_block(entry_of({"tools": [TOOL, OTHER], "prompts": [PROMPT]}, ["x"]))
    assert block["protocolVersions"] == ["x"]
    assert {kind: summary["n"] for kind, summary in block["capabilities"].items()} == {
        "tools": 2,
        "resources": 0,
        "prompts": 1,
    }
    assert block["capabilities"]["prompts"]["versions"] == {"review": "1.2.0"}
    assert block["capabilities"]["prompts"]["digests"] == {"review": "sha256:ab"}


def test_the_hash_of_tools_is_of_names_and_schemas_in_the_order_of_names() -> None:
    identifiers = [
        {"name": "a", "inputSchemaHash": digest_of_json(OTHER["inputSchema"])},
        {"name": "b", "inputSchemaHash": digest_of_json(TOOL["inputSchema"])},
    ]
    assert f"sha256:{summary('tools', [TOOL, OTHER])['sha256']}" == digest_of_json(identifiers)
    assert summary("tools", [TOOL, OTHER]) == summary("tools", [OTHER, TOOL])


def test_another_schema_gives_another_hash() -> None:
    assert summary("tools", [TOOL]) != summary("tools", [{**TOOL, "inputSchema": OTHER["inputSchema"]}])


@pytest.mark.parametrize("entry", [None, [], {}, {"_meta": []}, {"_meta": {"x": {}}}])
def test_an_entry_without_the_block_claims_nothing(entry: object) -> None:
    assert profile_block(entry) == {}

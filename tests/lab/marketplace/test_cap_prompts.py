"""Prompts: versions of three numbers, and digests of what they say with placeholders."""

from typing import Any

import pytest

from assay.lab.harness.trace.digest import digest_of, digest_of_json
from assay.lab.marketplace.capabilities.meta import is_version
from assay.lab.marketplace.capabilities.prompts import placeholders
from tests.lab.marketplace.cap_judging import Said, trace_of, verdicts
from tests.lab.traces import request, stdio_trace

ARGUMENTS = [{"name": "code", "required": True}]
MESSAGES = [{"role": "user", "content": {"type": "text", "text": "Review {code}"}}]
SAID = {"semver": "1.2.0", "digest": digest_of_json(MESSAGES), "over": "messages"}


def meta(said: Any) -> dict[str, Any]:
    return {"_meta": {"dev.assay/version": said}}


def listed(said: Any) -> Said:
    return "prompts/list", {}, {"prompts": [{"name": "review", "arguments": ARGUMENTS, **meta(said)}]}


def got(said: Any = SAID, code: str = "{code}") -> Said:
    params = {"name": "review", "arguments": {"code": code}}
    return "prompts/get", params, {"messages": MESSAGES, **meta(said)}


def test_a_prompt_with_version_and_digest_passes() -> None:
    assert set(verdicts("prompts", trace_of(listed(SAID), got())).values()) == {"SUCCESS"}


@pytest.mark.parametrize("said", [None, {}, {"semver": "1.2"}, {"semver": 1}, {"semver": "v1.2.0"}])
def test_a_version_that_is_none_is_found(said: Any) -> None:
    assert verdicts("prompts", trace_of(listed(said)))["prompts.version"] == "FAILURE"


@pytest.mark.parametrize("said", [None, {**SAID, "semver": "1.2.1"}])
def test_what_is_got_has_the_version_of_the_list(said: Any) -> None:
    assert verdicts("prompts", trace_of(listed(SAID), got(said)))["prompts.version"] == "FAILURE"


@pytest.mark.parametrize("changed", [{"digest": digest_of(b"")}, {"over": "definition"}, {"digest": None}])
def test_a_digest_of_anything_else_is_found(changed: dict[str, Any]) -> None:
    said = {**SAID, **changed}
    assert verdicts("prompts", trace_of(listed(said), got(said)))["prompts.digest"] == "FAILURE"


def test_other_arguments_show_nothing_of_the_digest() -> None:
    trace = trace_of(listed(SAID), got(code="x = 1"))
    assert verdicts("prompts", trace)["prompts.digest"] == "SKIPPED"


def test_a_prompt_that_cannot_be_rendered_is_known_by_its_definition() -> None:
    digest = digest_of_json({"name": "review", "arguments": ARGUMENTS})
    page = listed({"semver": "1.0.0", "digest": digest, "over": "definition"})
    asked = request(1, "prompts/get", name="review", arguments={"code": "{code}"})
    refused = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": "no code"}}
    turns = [(">", request(0, "prompts/list")), ("<", {"jsonrpc": "2.0", "id": 0, "result": page[2]})]
    trace = stdio_trace(*turns, (">", asked), ("<", refused))
    assert verdicts("prompts", trace)["prompts.digest"] == "SUCCESS"


def test_each_argument_is_its_name_in_braces() -> None:
    assert placeholders({"arguments": [{"name": "a"}, {"name": 1}, "b"]}) == {"a": "{a}"}


@pytest.mark.parametrize("version", ["0.0.0", "1.2.3", "1.0.0-rc.1", "1.0.0+build.5"])
def test_semantic_versions_are_versions(version: str) -> None:
    assert is_version(version)


@pytest.mark.parametrize("version", ["01.0.0", "1.2.3.4", "1.2.3-", "latest", ""])
def test_other_words_are_no_versions(version: str) -> None:
    assert not is_version(version)

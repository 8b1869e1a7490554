"""Resources: what changes silently, and what their tags must be."""

from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest

from assay.lab.marketplace.capabilities.resources import MADE_UP
from tests.lab.marketplace.cap_judging import Said, exchanges, trace_of, verdicts
from tests.lab.traces import request, stdio_trace

URI = "note:///a"
RETENTION = {"dev.assay/retention": {"tier": "standard-365d"}}


def read(text: str, **fields: Any) -> Said:
    return "resources/read", {"uri": URI}, {"contents": [{"uri": URI, "text": text, **fields}]}


def listed(modified: str) -> Said:
    resource = {"uri": URI, "name": "a", "annotations": {"lastModified": modified}}
    return "resources/list", {}, {"resources": [resource]}


def proof(digest: str, over: str = "text-utf8") -> dict[str, Any]:
    return {"dev.assay/provenance": {"alg": "sha-256", "digest": digest, "over": over, "asOf": "x"}}


def stable(*said: Said) -> str:
    return verdicts("stable", trace_of(*said))["resources.stable"]


def test_one_reading_shows_nothing() -> None:
    assert stable(read("a")) == "SKIPPED"


def test_two_readings_of_the_same_bytes_are_steady() -> None:
    assert stable(read("a"), read("a")) == "SUCCESS"


def test_what_is_never_the_same_is_found() -> None:
    assert stable(read("a"), read("b"), read("c")) == "FAILURE"


def test_a_change_by_somebody_else_is_no_fault() -> None:
    assert stable(read("a"), read("b"), read("b")) == "SUCCESS"


def test_a_change_that_has_another_date_is_not_silent() -> None:
    assert stable(listed("1"), read("a"), read("b"), listed("2")) == "SKIPPED"
    assert stable(listed("1"), read("a"), read("b"), listed("1")) == "FAILURE"


@pytest.mark.parametrize(("uri", "expected"), [(URI, "SKIPPED"), ("note:///other", "FAILURE")])
def test_an_announced_change_is_not_silent(uri: str, expected: str) -> None:
    told = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    trace = stdio_trace(*exchanges(read("a"), read("b")), ("<", told))
    assert verdicts("stable", trace) == {"resources.stable": expected}


def test_tags_of_text_and_bytes_are_recomputed() -> None:
    data = b"\x00\xff"
    blob = {"blob": b64encode(data).decode(), "_meta": proof(sha256(data).hexdigest(), "blob")}
    bytes_read: Said = ("resources/read", {"uri": URI}, {"contents": [{"uri": URI, **blob}]})
    text_read = read("ä", _meta={**RETENTION, **proof(sha256("ä".encode()).hexdigest())})
    assert verdicts("tags", trace_of(text_read)) == {
        "resources.retention": "SUCCESS",
        "resources.provenance": "SUCCESS",
    }
    assert verdicts("tags", trace_of(bytes_read))["resources.provenance"] == "SUCCESS"


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"dev.assay/provenance": sha256(b"a").hexdigest()},
        proof(sha256(b"b").hexdigest()),
        proof(sha256(b"a").hexdigest().upper()),
        proof("sha256:" + sha256(b"a").hexdigest()),
        proof(sha256(b"a").hexdigest(), "blob"),
    ],
)
def test_a_digest_in_any_other_form_is_found(meta: dict[str, Any]) -> None:
    assert verdicts("tags", trace_of(read("a", _meta=meta)))["resources.provenance"] == "FAILURE"


@pytest.mark.parametrize("tier", ["forever", "", None, ["standard-365d"]])
def test_a_tier_that_the_profile_lacks_is_found(tier: object) -> None:
    meta = {"dev.assay/retention": {"tier": tier}}
    assert verdicts("tags", trace_of(read("a", _meta=meta)))["resources.retention"] == "FAILURE"


def test_bytes_that_cannot_be_decoded_have_no_digest_to_compare() -> None:
    odd: Said = ("resources/read", {"uri": URI}, {"contents": [{"uri": URI, "blob": "%"}]})
    assert verdicts("tags", trace_of(odd))["resources.provenance"] == "SKIPPED"


def refused(number: int, method: str, code: int, message: str) -> list[tuple[str, Any]]:
    error = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return [(">", request(number, method, uri=URI)), ("<", error)]


def unwritable(*turns: tuple[str, Any]) -> str:
    return verdicts("unwritable", stdio_trace(*turns))["resources.read-only"]


def test_a_method_that_is_refused_like_one_that_nobody_has_is_not_there() -> None:
    made_up = refused(1, MADE_UP, -32602, f"bad request {MADE_UP}")
    assert unwritable(*made_up, *refused(2, "resources/write", -32602, "bad request resources/write")) == (
        "SUCCESS"
    )


def test_a_method_that_finds_fault_with_what_it_got_is_there() -> None:
    made_up = refused(1, MADE_UP, -32601, "no such method")
    assert unwritable(*made_up, *refused(2, "resources/write", -32602, "nothing to write")) == "FAILURE"
    alike = refused(1, MADE_UP, -32602, "no such method")
    assert unwritable(*alike, *refused(2, "resources/write", -32602, "nothing to write")) == "FAILURE"

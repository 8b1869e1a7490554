"""Statements: canonical encoding, strict decoding."""

import math
from typing import Any

import pytest

from assay.certify.bundle.statement import MAX_SUBJECTS, BadStatement, encode, read, statement
from assay.signing import canonical
from assay.signing.dsse import Role, Trust, sign, verify
from assay.signing.keys import generate

DIGEST = "0f" * 32
KIND = "https://in-toto.io/attestation/test-result/v0.1"
PLAIN: dict[str, Any] = {
    "_type": "https://in-toto.io/Statement/v1",
    "subject": [{"name": "server.whl", "digest": {"sha256": DIGEST}}],
    "predicateType": KIND,
    "predicate": {"result": "PASSED"},
}


def test_it_has_the_format_of_the_specification() -> None:
    claimed = statement({"server.whl": DIGEST}, KIND, {"result": "PASSED"})
    assert encode(claimed) == canonical.encode(PLAIN)
    assert read(encode(claimed)) == claimed


def test_the_order_of_subjects_does_not_matter() -> None:
    assert encode(statement({"b": DIGEST, "a": DIGEST}, KIND, {})) == encode(
        statement({"a": DIGEST, "b": DIGEST}, KIND, {})
    )


def test_it_can_be_signed_and_verified() -> None:
    key = generate()
    claimed = statement({"server.whl": DIGEST}, KIND, {"passedTests": ["CONF-JRPC-02"]})
    envelope = sign(encode(claimed), key)
    assert read(verify(envelope, Trust([(key.public, Role.DEVELOPER)]), Role.DEVELOPER).payload) == claimed


def without(member: str) -> dict[str, Any]:
    return {name: value for name, value in PLAIN.items() if name != member}


def of_subjects(*subjects: dict[str, Any]) -> dict[str, Any]:
    return {**PLAIN, "subject": list(subjects)}


GOOD = PLAIN["subject"][0]


@pytest.mark.parametrize(
    "value",
    [
        [],
        *(without(member) for member in PLAIN),
        {**PLAIN, "_type": "https://in-toto.io/Statement/v0.1"},
        {**PLAIN, "more": 1},
        {**PLAIN, "predicateType": "no address"},
        {**PLAIN, "predicate": []},
        of_subjects(),
        of_subjects(GOOD, GOOD),
        of_subjects({**GOOD, "name": ""}),
        of_subjects({**GOOD, "name": "x" * 1025}),
        of_subjects({**GOOD, "uri": "file:x"}),
        of_subjects({**GOOD, "digest": {}}),
        of_subjects({**GOOD, "digest": {"sha256": DIGEST.upper()}}),
        of_subjects({**GOOD, "digest": {"sha256": DIGEST + "\n"}}),
        of_subjects({**GOOD, "digest": {"sha256": DIGEST, "md5": "0"}}),
        of_subjects(*({**GOOD, "name": str(number)} for number in range(MAX_SUBJECTS + 1))),
    ],
    ids=range(19),
)
def test_an_invalid_statement(value: object) -> None:
    with pytest.raises(BadStatement):
        read(canonical.encode(value))


def test_other_forms_are_refused() -> None:
    with pytest.raises(BadStatement, match="not canonical JSON"):
        read(canonical.encode(PLAIN) + b"\n")


@pytest.mark.parametrize("value", [math.nan, (1, 2), {1: "one"}, b"bytes", object()])
def test_a_predicate_that_json_cannot_represent(value: object) -> None:
    with pytest.raises(BadStatement):
        encode(statement({"server.whl": DIGEST}, KIND, {"value": value}))


def test_an_invalid_statement_is_not_encoded() -> None:
    with pytest.raises(BadStatement):
        encode(statement({"server.whl": "short"}, KIND, {}))

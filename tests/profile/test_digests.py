"""Digests of canonical JSON, whatever encoder wrote it."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model.content import Annotations, Audio, EmbeddedResource, Image, ResourceLink, Text
from assay.model.content import Contents as Contained
from assay.model.effect import Effect, Target
from assay.profile import digests
from assay.protocol.codec import encode
from assay.signing import canonical

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
NUMBERS = st.integers(-digests.MAX_INTEGER, digests.MAX_INTEGER) | st.floats(
    allow_nan=False, allow_infinity=False
)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
METAS = st.none() | st.dictionaries(TEXTS, VALUES, max_size=3)
HINTS = st.none() | st.builds(Annotations, priority=st.none() | st.floats(0, 1))
BLOCKS = (
    st.builds(Text, TEXTS)
    | st.builds(Text, TEXTS, HINTS, METAS)
    | st.builds(Image, st.binary(max_size=20), st.just("image/png"), HINTS, METAS)
    | st.builds(Audio, st.binary(max_size=20), st.just("audio/wav"), meta=METAS)
    | st.builds(ResourceLink, st.just("file:///a"), TEXTS, meta=METAS)
    | st.builds(EmbeddedResource, st.builds(Contained, st.just("file:///a"), TEXTS), meta=METAS)
)


def of(value: Any) -> str:
    return f"sha256:{sha256(canonical.encode(value)).hexdigest()}"


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_json_however_it_is_written_has_the_digest_of_its_canonical_form(
    value: Any, escaped: bool, indent: int | None
) -> None:
    written = json.dumps(value, ensure_ascii=escaped, indent=indent).encode()
    assert digests.canonical(written) == canonical.encode(value)
    assert digests.digest_of_json(written) == of(value)


@pytest.mark.parametrize(
    "number",
    ["-0", "-0.0", "1.0", "1E5", "1e-7", "1e-6", "1e16", "1e21", "0.10", "9007199254740991", "-1.5e300"],
)
def test_numbers_are_written_as_ecmascript_writes_them(number: str) -> None:
    assert digests.digest_of_json(f"[{number}]".encode()) == of(json.loads(f"[{number}]"))


def test_of_two_equal_keys_the_last_counts() -> None:
    assert digests.digest_of_json(b'{"a":1,"a":2}') == of({"a": 2})


@pytest.mark.parametrize(
    "raw", [b"1e999", b"[-1e999]", b"9007199254740992", b'"\\ud800"', b"[" * 5000 + b"]" * 5000]
)
def test_what_canonical_json_cannot_say_has_no_digest(raw: bytes) -> None:
    assert digests.digest_of_json(raw) is None


@given(st.lists(BLOCKS, max_size=3))
def test_content_has_the_digest_of_what_is_on_the_wire(content: list[Any]) -> None:
    assert digests.digest_of_content(content) == of(json.loads(encode(content)))


@given(
    st.lists(
        st.builds(
            Effect,
            st.sampled_from(["create", "update", "delete", "send", "execute", "read-external"]),
            st.builds(Target, TEXTS, TEXTS.filter(bool)),
            st.none() | st.booleans(),
            count=st.integers(1, digests.MAX_INTEGER),
            bytes=st.none() | st.integers(0, digests.MAX_INTEGER),
        ),
        max_size=3,
    )
)
def test_effects_have_the_digest_of_what_is_on_the_wire(effects: list[Effect]) -> None:
    assert digests.digest_of_effects(effects) == of(json.loads(encode(effects)))

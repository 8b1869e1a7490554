"""The lab's digests equal those of the profile, although the code is separate."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.trace.digest import canonical_json, digest_of, digest_of_json, is_digest
from assay.signing import canonical

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_canonical_form_equals_the_signed_form(value: Any) -> None:
    try:
        expected = canonical.encode(value)
    except canonical.NotCanonical:
        expected = None
    assert canonical_json(value) == expected


def test_digest_of_a_value_is_of_its_canonical_form() -> None:
    assert digest_of_json({"b": "ä", "a": [1, 2.5]}) == digest_of('{"a":[1,2.5],"b":"ä"}'.encode())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object()])
def test_value_outside_json_has_no_digest(value: object) -> None:
    assert digest_of_json(value) is None


@pytest.mark.parametrize("value", [None, "", "sha256:", "ab" * 32, "sha256:" + "AB" * 32, 7])
def test_other_forms_are_not_digests(value: object) -> None:
    assert not is_digest(value)
    assert is_digest(digest_of(b""))

"""Challenges of servers, also malformed ones."""

from __future__ import annotations

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocol.oauth.challenge import HEADER_CHARACTERS, Challenge, read_challenge, read_scopes

METADATA = "https://mcp.example/.well-known/oauth-protected-resource"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("", Challenge()),
        ("Bearer", Challenge()),
        ("Basic realm=x", Challenge()),
        ('Bearer error="invalid_token"', Challenge(error="invalid_token")),
        ("bearer scope=read", Challenge(scopes=("read",))),
        ('Bearer scope="a b a"', Challenge(scopes=("a", "b"))),
        (f'Bearer resource_metadata="{METADATA}"', Challenge(resource_metadata=METADATA)),
        (r'Bearer error_description="say \"no\", always"', Challenge(description='say "no", always')),
        ('Basic realm="a, Bearer error=\\"x\\"", Bearer error="y"', Challenge(error="y")),
        ("Bearer error=first, error=second", Challenge(error="first")),
        ('Bearer error="a", Bearer error="b"', Challenge(error="a")),
        ('Bearer error="a", DPoP error="b", algs="ES256"', Challenge("dpop", "b")),
        ("Negotiate abc==, Bearer error=x", Challenge(error="x")),
        ("Bearer   error = x ,scope=y", Challenge(error="x", scopes=("y",))),
    ],
)
def test_a_header_is_read(header: str, expected: Challenge) -> None:
    assert read_challenge({"www-authenticate": header}) == expected


def test_a_header_without_end_is_cut() -> None:
    challenge = read_challenge({"www-authenticate": 'Bearer scope="' + "a " * 100_000 + '"'})
    assert len(challenge.scopes) <= 100


@given(st.text(alphabet='Bearer DPoP=",\\ scope\t', max_size=60))
def test_any_text_is_read(header: str) -> None:
    read_challenge({"www-authenticate": header})


def test_what_is_not_a_scope_is_left_out() -> None:
    assert read_scopes('a "b" c\\d é f') == ("a", "f")
    assert read_scopes(7) == ()


@pytest.mark.parametrize("repeated", [",", " ,", 'a="\\",', "a =", "Bearer ,", 'a="x",a'])
def test_a_header_that_repeats_a_part_is_read_in_time_that_grows_with_its_length(repeated: str) -> None:
    start = process_time()
    read_challenge({"www-authenticate": repeated * (HEADER_CHARACTERS // len(repeated))})
    assert process_time() - start < 0.5

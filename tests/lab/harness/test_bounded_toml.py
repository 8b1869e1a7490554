"""TOML from a stranger is read in linear time, or refused."""

import time
from hashlib import sha256

import pytest

from assay.certify.profile_list import BadProfile, read, shipped
from assay.lab.harness.bounded_toml import DOTS, LARGEST, BadToml, parse_toml

SIZE = LARGEST - 16


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"#" * (LARGEST + 1), f"larger than {LARGEST} bytes"),
        (b"a." * (SIZE // 2) + b"b = 1", "line 1 has more than 64 dots"),
        (b"\n[" + b"a . " * (SIZE // 4) + b"b]", "line 2 has more than 64 dots"),
        (b"a = {" + b'"a".' * (SIZE // 4) + b"b = 1}", "line 1 has more than 64 dots"),
        (b"a = " + b"[" * (SIZE // 2) + b"]" * (SIZE // 2), "nested too deeply"),
        (b"a = " + b"{a = " * (SIZE // 5), "nested too deeply"),
        (b"a = " + b"1" * SIZE, "not TOML: Exceeds the limit"),
        (b"a = \xff", "not TOML: 'utf-8' codec"),
        (b"a", "not TOML: "),
    ],
)
def test_hostile_document_is_refused_at_once(data: bytes, problem: str) -> None:
    begin = time.process_time()
    with pytest.raises(BadToml, match=problem):
        parse_toml(data)
    assert time.process_time() - begin < 2.0  # the first took 9 s for 32 KB


def test_longest_keys_cost_no_more_than_the_same_bytes_in_short_ones() -> None:
    long = b"".join(b"a." * (DOTS - 1) + b"b%d = 1\n" % number for number in range(300))
    short = b"".join(b"%d = 1\n" % number for number in range(len(long) // 9))
    assert cpu(long) < 20 * cpu(short)


def cpu(data: bytes) -> float:
    """The quickest of three."""
    figures = []
    for _ in range(3):
        begin = time.process_time()
        parse_toml(data)
        figures.append(time.process_time() - begin)
    return min(figures)


def test_profile_of_a_bundle_is_bounded() -> None:
    with pytest.raises(BadProfile, match="not a profile: line 1 has more than 64 dots"):
        read(b"a." * 1000 + b"b = 1")


def test_profiles_of_assay_are_far_below_the_bounds() -> None:
    profile = shipped("intelgraph/2025-10")
    assert profile.sha256 == sha256(profile.data).hexdigest()
    assert len(profile.data) < LARGEST / 4
    assert max(line.count(b".") for line in profile.data.splitlines()) < DOTS / 4

"""Types of the standard library that msgspec reads and writes through a hook."""

from __future__ import annotations

import ipaddress
import re
from collections import deque
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import pytest

from assay.server.types.custom_type import describe_custom, read_custom, write_custom
from assay.server.types.text_type import LONGEST_PATTERN


@pytest.mark.parametrize(
    ("annotation", "text", "value", "name"),
    [
        (Path, "a/b", Path("a/b"), "path"),
        (PurePosixPath, "a", PurePosixPath("a"), "path"),
        (ipaddress.IPv6Address, "::1", ipaddress.IPv6Address("::1"), "ipv6"),
        (ipaddress.IPv4Interface, "10.0.0.1/8", ipaddress.IPv4Interface("10.0.0.1/8"), "ipv4interface"),
        (re.Pattern, "a+", re.compile("a+"), "regex"),
        (re.Pattern[str], "a+", re.compile("a+"), "regex"),
    ],
)
def test_text_is_read_described_and_written(annotation: Any, text: str, value: Any, name: str) -> None:
    assert read_custom(annotation, text) == value
    assert describe_custom(annotation) == {"type": "string", "format": name}
    assert write_custom(value) == text


@pytest.mark.parametrize(
    ("annotation", "value", "problem"),
    [
        (Path, 3, "Expected `str`, got `int`"),
        (ipaddress.IPv4Address, None, "Expected `str`, got `null`"),
        (ipaddress.IPv4Address, "1.2", "4 octets"),
        (re.Pattern, "(", "invalid regular expression"),
        (re.Pattern, "a" * (LONGEST_PATTERN + 1), "at most 4096 characters"),
        (deque[int], ["a"], r"\[0\]: Expected `int`, got `str`"),
        (deque, 3, "Expected `array`, got `int`"),
    ],
)
def test_other_values_are_refused(annotation: Any, value: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_custom(annotation, value)


def test_values_without_a_declared_type_are_written() -> None:
    value = {"path": Path("a"), "items": deque([1]), "lines": (str(number) for number in range(2))}
    assert msgspec.json.encode(value, enc_hook=write_custom) == b'{"path":"a","items":[1],"lines":["0","1"]}'

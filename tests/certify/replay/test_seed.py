"""Seeds: values that become environment variables, and digests of variables instead of their values."""

from __future__ import annotations

import pytest

from assay.certify.replay.seed import MOST_VARIABLES, Seeds, digest, digests
from assay.certify.replay.seeded_target import seeded
from assay.lab.error import InvalidOptions
from assay.lab.target import Command, Served, Url


def test_a_missing_random_seed_is_made_up() -> None:
    first, second = Seeds().filled(), Seeds().filled()
    assert first.random != second.random
    assert first.environment["ASSAY_RANDOM_SEED"] == first.random
    assert Seeds(random="a").filled().random == "a"


@pytest.mark.parametrize(
    "seeds",
    [
        Seeds(clock="now"),
        Seeds(clock="2026-01-01T00:00:00"),
        Seeds(random="a b"),
        Seeds(timezone="/etc/localtime"),
        Seeds(locale="../x"),
        Seeds(hash_seed="-1"),
    ],
)
def test_an_invalid_seed_is_refused(seeds: Seeds) -> None:
    with pytest.raises(InvalidOptions, match="invalid seed"):
        seeds.filled()


def test_variables_are_stored_as_digests() -> None:
    assert digests(["A", "B"], {"A": "secret"}) == {"A": digest("secret"), "B": "unset"}
    assert "secret" not in digest("secret")


def test_names_of_variables_are_checked_and_bounded() -> None:
    with pytest.raises(InvalidOptions, match="not the name of a variable"):
        digests(["A=B"])
    with pytest.raises(InvalidOptions, match="too many"):
        digests([f"V{number}" for number in range(MOST_VARIABLES + 1)])


def test_only_servers_that_are_started_get_seeds() -> None:
    environment = {"TZ": "UTC"}
    assert seeded(Command(("srv", "-x")), environment) == Command(("env", "TZ=UTC", "srv", "-x"))
    assert seeded(Served("reference"), environment) == Served("reference", (), environment)
    assert seeded(Url("http://a/"), environment) == Url("http://a/")
    assert seeded(Url("http://a/", ("srv",)), environment) == Url("http://a/", ("env", "TZ=UTC", "srv"))

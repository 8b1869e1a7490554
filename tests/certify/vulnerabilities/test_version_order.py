"""The order of versions."""

import pytest

from assay.certify.vulnerabilities.version_order import ORDERS


@pytest.mark.parametrize(
    ("ecosystem", "versions"),
    [
        ("PyPI", "1.0.dev1 1.0a1 1.0rc1 1.0 1.0.post1 1.1 1.10 1!0.1"),
        (
            "npm",
            "1.0.0-alpha 1.0.0-alpha.1 1.0.0-alpha.beta 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0",
        ),
        ("Maven", "1.0-alpha-1 1.0-beta-1 1.0-rc1 1.0 1.0-sp 1.1 1.10"),
        ("Go", "v1.0.0-rc.1 v1.0.0 v1.2.0 v1.10.0"),
        ("RubyGems", "1.0.a 1.0.b2 1.0 1.0.1 1.10"),
        ("NuGet", "1.0.0-beta 1.0.0 1.0.0.1 1.0.1"),
        ("Packagist", "1.0.0-alpha1 1.0.0-beta1 1.0.0 1.0.1"),
    ],
)
def test_the_order(ecosystem: str, versions: str) -> None:
    in_order = versions.split()
    assert sorted(reversed(in_order), key=ORDERS[ecosystem]) == in_order


def test_build_metadata_and_prefixes_are_ignored() -> None:
    semver = ORDERS["npm"]
    assert semver("1.2.3+build.7") == semver("v1.2.3") == semver("1.2.3")
    assert semver("1") == semver("1.0.0")


def test_a_word_after_the_number_is_a_version_only_where_the_ecosystem_has_them() -> None:
    assert ORDERS["Maven"]("1.x") and ORDERS["RubyGems"]("1.x")
    for ecosystem in ORDERS.keys() - {"Maven", "RubyGems"}:
        with pytest.raises(ValueError, match=r".+"):
            ORDERS[ecosystem]("1.x")


@pytest.mark.parametrize("ecosystem", ORDERS)
@pytest.mark.parametrize("text", ["", "latest", "9" * 5000 + ".1", "\u0661.0.0-x y"])
def test_an_invalid_version(ecosystem: str, text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        ORDERS[ecosystem](text)

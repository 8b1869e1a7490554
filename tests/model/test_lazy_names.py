"""Packages whose names are imported on first use."""

from typing import Any

import pytest

from assay.model.lazy_names import lazy_names


@pytest.fixture
def package() -> dict[str, Any]:
    return {"__name__": "assay.model", "VERSION": "1"}


def test_a_name_is_imported_on_first_use_and_remembered(package: dict[str, Any]) -> None:
    names, load, _ = lazy_names(package, {".limits": "Limits", "json": "loads dumps"})
    assert names == ["Limits", "loads", "dumps"]
    assert "Limits" not in package
    assert load("Limits") is package["Limits"]
    assert load("dumps")({}) == "{}"


def test_an_unknown_name_is_an_attribute_error_as_of_any_module(package: dict[str, Any]) -> None:
    _, load, _ = lazy_names(package, {".limits": "Limits"})
    with pytest.raises(AttributeError, match=r"module 'assay\.model' has no attribute 'Limit'"):
        load("Limit")


def test_dir_shows_names_that_are_not_imported_yet(package: dict[str, Any]) -> None:
    _, _, names = lazy_names(package, {".limits": "Limits"})
    assert names() == ["Limits", "VERSION", "__name__"]

"""Limits must be greater than zero."""

from __future__ import annotations

import pytest

from assay import Limits


@pytest.mark.parametrize("name", Limits.__struct_fields__)
@pytest.mark.parametrize("value", [0, -1])
def test_limit_that_admits_nothing_is_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=rf"limits\.{name} .*: {value}"):
        Limits(**{name: value})


@pytest.mark.parametrize("name", Limits.__struct_fields__)
def test_limit_can_be_set_by_itself(name: str) -> None:
    changed = Limits(**{name: 7})
    assert {field: getattr(changed, field) for field in Limits.__struct_fields__} == {
        **{field: getattr(Limits(), field) for field in Limits.__struct_fields__},
        name: 7,
    }


def test_idle_timeout_can_be_switched_off() -> None:
    assert Limits(idle_timeout=None).idle_timeout is None

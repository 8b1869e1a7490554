"""What keeps the whole test suite quick; no test needs any of it."""

import gc

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: no test depends on time.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files that take long begin first: at the end, no process is left alone with one of them."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_collection_finish() -> None:
    """Ten thousand tests stay to the end: to look through them for garbage over and over takes a minute."""
    gc.collect()
    gc.freeze()

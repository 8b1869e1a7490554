"""One Chromium for all tests here; every page that a test opens is a tab of its own."""

from collections.abc import Iterator

import pytest

from tests.system.chromium import Browser, chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running

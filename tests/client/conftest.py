"""The tests of the client leave the everything server as it was, for the tests that follow in the process."""

from collections.abc import Iterator

import pytest

from tests.client.everything import restore


@pytest.fixture(autouse=True)
def unchanged_everything_server() -> Iterator[None]:
    yield
    restore()

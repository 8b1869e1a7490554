"""The tests of the client leave nothing behind for the tests that follow in the process."""

from collections import OrderedDict
from collections.abc import Iterator

import pytest

from assay.client import remembered
from tests.client.everything import restore


@pytest.fixture(autouse=True)
def unchanged_everything_server() -> Iterator[None]:
    yield
    restore()


@pytest.fixture(autouse=True)
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may get the port of an earlier one, which spoke another revision."""
    for name in ("_revisions", "_older"):
        monkeypatch.setattr(remembered, name, OrderedDict())

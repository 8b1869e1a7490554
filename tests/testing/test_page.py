"""The samples of docs/testing.md pass when pytest runs them as they are written there."""

import re

import pytest

import assay.testing.client
import assay.testing.lab_run
import assay.testing.setting  # noqa: F401 - loaded once
from assay.lab.suites import protocol_suite
from tests.meta.tree import ROOT
from tests.testing.project import ASYNCIO, BARE, SERVER, WITH_ASYNCIO

pytest_plugins = ("pytester",)
PAGE = (ROOT / "docs" / "testing.md").read_text("utf-8")
NAMED = re.compile(r"^```python\n# (\w+)\.py\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FIRST = re.compile(r"^```python\n(async def .*?)^```$", re.MULTILINE | re.DOTALL)
protocol_suite()


def test_the_samples_pass(pytester: pytest.Pytester) -> None:
    first = FIRST.search(PAGE)
    assert first is not None
    files = {**dict(NAMED.findall(PAGE)), "test_first": first[1]}
    pytester.makepyfile(**files)
    pytester.makeini(f"[pytest]\npythonpath = .\n{ASYNCIO}{SERVER}")
    result = pytester.runpytest_inprocess(*BARE, *WITH_ASYNCIO)
    outcomes = result.parseoutcomes()
    assert len(files) == 8 and "failed" not in outcomes and "errors" not in outcomes
    assert outcomes["passed"] > 10

"""The tests of the example project pass. `make tested` runs all of them in an empty environment."""

import pytest

import assay.testing.client
import assay.testing.setting  # noqa: F401 - loaded once
from tests.meta.tree import ROOT

pytest_plugins = ("pytester",)
EXAMPLE = ROOT / "examples" / "tested-server"


def test_the_tests_of_the_example_pass(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("CI", "true")
    plugins = ("-p", "assay.testing.plugin", "-p", "pytest_asyncio.plugin", "-p", "no:cacheprovider")
    files = [path for path in sorted((EXAMPLE / "tests").glob("test_*.py")) if "conformance" not in path.name]
    settings = ("-c", EXAMPLE / "pyproject.toml", "-o", f"pythonpath={EXAMPLE / 'src'}")
    pytester.runpytest_inprocess(*plugins, *settings, *files).assert_outcomes(passed=12)

"""What the plugin costs where no test uses it: next to nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

import assay.client.client
import assay.server.server

LOADED = {
    "assay",
    "assay.model",
    "assay.model.lazy_names",
    "assay.model.version",
    "assay.testing",
    "assay.testing.plugin",
}
CONFTEST = """
import sys

def pytest_sessionfinish():
    names = {name for name in sys.modules if name.partition(".")[0] in ("assay", "msgspec")}
    print("LOADED", *sorted(names))
"""


def test_a_project_that_does_not_use_it_loads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_plain.py").write_text("def test_plain(): ...\n")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "assay.testing.plugin", "-p", "no:cacheprovider"]
    outcome = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=25)
    (line,) = (line for line in outcome.stdout.splitlines() if "LOADED" in line)
    assert set(line.partition("LOADED")[2].split()) == LOADED


def test_the_asserts_of_the_package_are_not_rewritten(pytestconfig: pytest.Config) -> None:
    assert pytestconfig.pluginmanager.hasplugin("assay")
    for module in (assay.client.client, assay.server.server):
        assert "pytest" not in type(module.__loader__).__module__

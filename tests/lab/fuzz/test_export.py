"""A finding as a pytest file, whose test fails until the server is fixed."""

import asyncio
import sys
from pathlib import Path

import pytest

from assay.lab.fuzz.case import Case, Step
from assay.lab.fuzz.export import export_tests
from tests.lab.fuzz.planted import FAULTY, fuzzed

CASE = Case((Step(b'"\\ud800"'),))


def run(text: str) -> None:
    """Run the test in the file."""
    namespace: dict[str, object] = {}
    exec(compile(text, "test_finding.py", "exec"), namespace)
    (test,) = (value for name, value in namespace.items() if name.startswith("test_"))
    test()  # type: ignore[operator]


async def exported(case: Case) -> str:
    fuzzer, _ = await fuzzed("surrogate", seed=1, cases=(case,))
    server = {"command": [sys.executable, "server.py", "surrogate"]}
    return export_tests(fuzzer.findings, [server], 'assay "x"\\')


@pytest.mark.parametrize("case", [CASE, Case((Step(b'"' + b"a" * 5000 + b'\\ud800"'),))])
def test_exported_test_fails_until_the_server_is_fixed(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = asyncio.run(exported(case))
    monkeypatch.chdir(tmp_path)
    server = tmp_path / "server.py"
    server.write_text(FAULTY.read_text("utf-8"), "utf-8")
    with pytest.raises(AssertionError):
        run(text)
    server.write_text(FAULTY.read_text("utf-8").replace("os._exit(1)", "pass"), "utf-8")
    run(text)

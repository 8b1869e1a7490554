"""A finding as a pytest file: red on the faulty server, green once it is mended."""

import asyncio
import sys
from pathlib import Path

import pytest

from assay.lab.fuzz.case import Case, Step
from assay.lab.fuzz.export import exported
from tests.lab.fuzz.planted import FAULTY, fuzzed

CASE = Case((Step(b'"\\ud800"'),))


def run(text: str) -> None:
    """What pytest would do with the one test in it."""
    space: dict[str, object] = {}
    exec(compile(text, "test_finding.py", "exec"), space)
    (test,) = (value for name, value in space.items() if name.startswith("test_"))
    test()  # type: ignore[operator]


async def found(case: Case) -> str:
    fuzzer, _ = await fuzzed("surrogate", seed=1, cases=(case,))
    return exported(fuzzer.found, [{"command": [sys.executable, "server.py", "surrogate"]}], 'assay "x"\\')


@pytest.mark.parametrize("case", [CASE, Case((Step(b'"' + b"a" * 5000 + b'\\ud800"'),))])
def test_red_on_the_faulty_server_green_once_it_is_mended(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = asyncio.run(found(case))
    monkeypatch.chdir(tmp_path)
    server = tmp_path / "server.py"
    server.write_text(FAULTY.read_text("utf-8"), "utf-8")
    with pytest.raises(AssertionError):
        run(text)
    server.write_text(FAULTY.read_text("utf-8").replace("os._exit(1)", "pass"), "utf-8")
    run(text)

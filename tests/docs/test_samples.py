"""Every Python sample in the documents is a complete program that runs, or says why it does not.

A sample that must not run begins with `# not run: reason`; it is still compiled.
"""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.driving.warm_python import warm_python
from tests.meta.tree import ROOT

pytestmark = pytest.mark.waits

PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
FENCE = re.compile(r"^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
NOT_RUN = re.compile(r"# not run: \S+")


@dataclass(frozen=True)
class Sample:
    place: str
    text: str

    @property
    def runs(self) -> bool:
        return not NOT_RUN.match(self.text)


def samples_in(page: str, name: str) -> list[Sample]:
    return [
        Sample(f"{name}:{page.count(chr(10), 0, match.start()) + 1}", match["text"])
        for match in FENCE.finditer(page)
        if match["language"].strip() == "python"
    ]


SAMPLES = [sample for path in PAGES for sample in samples_in(path.read_text("utf-8"), path.name)]


def run(text: str, directory: Path) -> subprocess.CompletedProcess[str]:
    # Empty input ends a stdio server immediately.
    return subprocess.run(
        [warm_python(), "-c", text],
        input="",
        capture_output=True,
        text=True,
        cwd=directory,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        check=False,
        timeout=25,
    )


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.place for sample in SAMPLES])
def test_a_sample_runs(sample: Sample, tmp_path: Path) -> None:
    compile(sample.text, sample.place, "exec")
    if sample.runs:
        outcome = run(sample.text, tmp_path)
        assert outcome.returncode == 0, f"{sample.place}\n{outcome.stderr}"


def test_every_page_that_teaches_has_samples() -> None:
    pages = {sample.place.partition(":")[0] for sample in SAMPLES}
    assert {"README.md", "quickstart.md", "write.md", "serve.md", "protect.md", "test.md"} <= pages


def test_samples_are_found_with_their_line() -> None:
    page = "# Page\n\n```python\nx = 1\n```\n\n```console\nmake\n```\n\n```python\n# not run: slow\ny\n```\n"
    samples = samples_in(page, "page.md")
    assert samples == [
        Sample("page.md:3", "x = 1\n"),
        Sample("page.md:11", "# not run: slow\ny\n"),
    ]
    assert [sample.runs for sample in samples] == [True, False]


def test_a_sample_that_fails_is_noticed(tmp_path: Path) -> None:
    assert run("assert 1 == 2", tmp_path).returncode != 0
    assert run("import warnings; warnings.warn('old')", tmp_path).returncode != 0

"""`assay report --format html`: from a stored run to a page with its frames, wherever one stands."""

import json
import re
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.archive import Archive
from assay.lab.harness.verdict import Verdict
from tests.lab.runs import cell, run_of
from tests.lab.traces import request, result, stdio_trace


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    archive = Archive(tmp_path / "results")
    result_cell = cell("lifecycle.ping", ("lifecycle.ping", Verdict.SUCCESS))
    stored = archive.store(result_cell, stdio_trace((">", request(1, "ping")), ("<", result(1))))
    return archive.finish(run_of(stored)).parent


def test_page_has_the_frames_wherever_one_stands(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert main(["report", str(stored), "--format", "html", "--output", "page.html"]) == 0
    page = Path("page.html").read_text("ascii")
    match = re.search(r'id="trace-0">(.*?)</script>', page)
    assert match is not None
    assert [frame["text"] for frame in json.loads(match[1])] == ["ping", "result"]

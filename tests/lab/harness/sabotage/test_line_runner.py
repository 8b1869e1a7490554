"""Lines of findings, run in a shell."""

import pytest

from assay.lab.harness.sabotage import line_runner
from assay.lab.harness.sabotage.line_runner import run_line


async def test_output_and_errors_of_a_line_are_returned_with_its_variables_set() -> None:
    assert await run_line('echo "$TOKEN" >&2; echo end', {"TOKEN": "abc"}) == b"abc\nend\n"


async def test_line_whose_child_keeps_the_output_open_ends_at_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_runner, "LIMIT", 0.2)
    assert await run_line("sleep 600 & exit", {}) == b""

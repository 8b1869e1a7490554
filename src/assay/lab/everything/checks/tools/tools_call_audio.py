"""The content of a tool's result has a sound."""

from __future__ import annotations

from collections.abc import Iterator

from assay.lab.everything.content import judge_content, wav_problem
from assay.lab.everything.declaring import official_check
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "tools-call-audio"


@official_check(ROW, "A tool answers with a sound", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    yield from judge_content(trace, ROW, "test_audio_content", audio=wav_problem)

"""What is read at a template's URI is made with the value in the URI."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from assay.lab.everything.answered import answered
from assay.lab.everything.content import Block, data_problem, text_problem
from assay.lab.everything.declaring import official_check
from assay.lab.everything.reading import judge_contents
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.verdict import Observation

ROW = "resources-templates-read"
URI: Final = re.compile(r"test://template/(.+)/data")


@official_check(ROW, "A template's value is filled in", rows=(ROW,))
def judge(trace: Trace) -> Iterator[Observation]:
    for exchange in answered(trace, "resources/read"):
        uri = URI.fullmatch(str(exchange.params.get("uri")))
        if uri is not None:
            yield judge_contents(ROW, exchange, partial(_problem, uri[1]))


def _problem(value: str, contents: Block) -> str | None:
    if "blob" in contents:
        return data_problem("blob", contents)
    missing = (
        None if value in str(contents.get("text")) else f"a text without {value}: {contents.get('text')!r}"
    )
    return text_problem(contents) or missing

"""What a resource is read as."""

from __future__ import annotations

from assay.lab.harness.trace.trace import Exchange
from assay.lab.harness.verdict import Observation, observe
from assay.lab.suite.content_block import is_mime_type, is_uri

from .content import Block, Problem


def judge_contents(row: str, exchange: Exchange, problem_of: Problem) -> Observation:
    """The first contents of a reading say where and what they are, and are sound."""
    found = exchange.objects("contents")
    problem = _problem(found[0], problem_of) if found else f"no contents: {exchange}"
    expected = "contents with a URI, a mimeType and what the resource holds"
    return observe(row, problem is None, exchange, expected=expected, observed=problem)


def _problem(contents: Block, problem_of: Problem) -> str | None:
    if not is_uri(contents.get("uri")):
        return f"the uri {contents.get('uri')!r}"
    if not is_mime_type(contents.get("mimeType")):
        return f"the mimeType {contents.get('mimeType')!r}"
    return problem_of(contents)

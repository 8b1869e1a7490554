"""Whatever a subject says, no report lets it act: every format, every text of a stored run."""

import json
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from markdown_it import MarkdownIt

from assay.lab.harness.run.run import Run, dump_run, parse_run
from assay.lab.report.markdown import inline
from assay.lab.report.registry import formats, renderer
from tests.lab.hostile_text import WORST, everything_in_one_run, expect_harmless, hostile_texts, with_text

RUN = everything_in_one_run()
HARMLESS = with_text(RUN, "x")


def lines(report: str) -> Any:
    """Lines, without those that continue a long text."""
    return sum(not line.startswith(" " * 4) for line in report.split("\n"))


def elements(report: str) -> Any:
    return [element.tag for element in ElementTree.fromstring(report).iter()]


def keys(report: str) -> Any:
    def shape(value: Any) -> Any:
        match value:
            case dict():
                return [shape(item) for item in value.values()]
            case list():
                return [shape(item) for item in value]
        return type(value)

    return shape(json.loads(report))


def tags(report: str) -> Any:
    names: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attrs: names.append(tag)  # type: ignore[method-assign]
    parser.feed(report)
    return [name for name in names if name != "code"]  # a text may have parts in backticks


def blocks(report: str) -> Any:
    """Headings, lists, tables, links and pieces of HTML, by kind."""
    counts: Counter[str] = Counter()
    for token in MarkdownIt("commonmark").enable("table").parse(report):
        counts.update([token.type, *(child.type for child in token.children or ())])
    return {kind: count for kind, count in counts.items() if kind not in ("text", "code_inline")}


STRUCTURE: dict[str, Callable[[str], Any]] = {
    "html": tags,
    "json": keys,
    "junit": elements,
    "markdown": blocks,
    "matrix": lines,
    "sarif": keys,
    "text": lines,
}
"""What the texts of a run cannot change."""


def test_every_format_is_covered() -> None:
    assert set(STRUCTURE) == set(formats()), "say what texts cannot change in the new format"


@pytest.mark.parametrize("name", formats())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(text=WORST)
@given(text=hostile_texts)
def test_no_text_of_a_run_acts_or_changes_the_structure(name: str, text: str) -> None:
    report = renderer(name)(with_text(RUN, text))
    expect_harmless(report)
    assert STRUCTURE[name](report) == STRUCTURE[name](renderer(name)(HARMLESS))


def test_stored_texts_stay_as_they_were_observed() -> None:
    run: Run = with_text(RUN, WORST)
    assert parse_run(renderer("json")(run).encode()) == run
    assert parse_run(dump_run(run)) == run


def test_text_in_markdown_neither_links_nor_mentions() -> None:
    assert inline("@a https://b.example www.c.example") == r"\\u0040a https\://b.example www\.c.example"


def test_names_in_backticks_stay_code_and_a_lone_backtick_does_not_begin_any() -> None:
    assert inline("`tools/list` and ` or ``") == r"`tools/list` and \` or \`\`"


def test_link_of_a_finding_is_on_the_web_or_only_text() -> None:
    (cell, *_) = RUN.cells
    (check, *_) = cell.checks
    for link in ("javascript:alert(1)", "https://example.com/) [x](https://evil.example"):
        finding = msgspec.structs.replace(check.findings[0], link=link)
        changed = msgspec.structs.replace(check, findings=[finding])
        report = renderer("markdown")(
            msgspec.structs.replace(RUN, cells=[msgspec.structs.replace(cell, checks=[changed])])
        )
        assert "](javascript:" not in report and "(https://evil" not in report

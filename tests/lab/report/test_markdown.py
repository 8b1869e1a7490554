"""A comment for a pull request: short enough whatever the run, and no words of a server's become markup."""

import html

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from assay.lab.harness.run.run import CellResult, SubjectRecord
from assay.lab.harness.verdict import Outcome, Verdict
from assay.lab.report.markdown import code, render, tag
from tests.lab.runs import REVISION, cell, run_of

FAILED = cell("tools.unknown-name", ("tools.unknown-name", Verdict.FAILURE))
HOSTILE = [
    "@octocat look at #123",
    "](https://evil.example) ![x](https://evil.example/x.png)",
    "<img src=x onerror=alert(1)></details></summary>",
    "`` ` ```sh\nrm -rf / ``` ",
    "a | b |\n|---|---|",
    "&lt;b&gt; $x$ ~~gone~~ __bold__",
    "https://evil.example",
]


def saying(text: str, place: int = 0) -> CellResult:
    check = FAILED.checks[0]
    found = replace(check.findings[0], observed=text, expected=text, reproduce=f"printf '{text}'")
    return replace(
        FAILED, scenario=f"tools.s{place}", checks=[replace(check, id=f"c.{place}", findings=[found])]
    )


def test_it_begins_with_the_verdict_and_a_table() -> None:
    lines = render(run_of(FAILED, cell("tools.a", ("b.c", Verdict.SUCCESS)))).splitlines()
    assert lines[0] == "## ❌ does not conform: 1 passed, 1 failed"
    assert "| tools | ❌ 1 of 2 failed |" in lines


def test_client_is_not_asked_which_revisions_it_speaks() -> None:
    subject = SubjectRecord("python client.py", "http")
    lines = render(replace(run_of(FAILED, role="client"), subjects=[subject])).splitlines()
    assert "- `python client.py` on http" in lines


@pytest.mark.parametrize(
    ("given", "share"),
    [
        (cell("a.b", ("c.d", Verdict.SUCCESS)), "✅ 1"),
        (cell("a.b", ("c.d", Verdict.WARNING)), "✅ 1 with warnings"),
        (cell("a.b", ("c.d", Verdict.SKIPPED)), "⚠️ 1 of 1 incomplete"),
        (cell("a.b", outcome=Outcome.NOT_APPLICABLE), "-"),
    ],
)
def test_table_shows_the_worst_of_an_area(given: CellResult, share: str) -> None:
    assert f"| a | {share} |" in render(run_of(given)).splitlines()


def test_findings_are_folded_with_a_line_to_copy() -> None:
    shown = render(run_of(FAILED))
    assert (
        "<details><summary><b>FAILURE</b> <code>TL-19</code> title of tools.unknown-name</summary>" in shown
    )
    assert "- expected: `this`" in shown and "- observed: `that`" in shown
    assert "```sh\nprintf %s x | server\n```" in shown
    assert f"(stdio, {REVISION})" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_server_said_is_only_ever_code(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(render(run_of(saying(text))))
    inside = [child for token in tokens for child in token.children or []]
    outside = "".join(one.content for one in inside if one.type in ("text", "html_inline"))
    blocks = "".join(token.content for token in tokens if token.type == "html_block")
    links = [one.attrs["href"] for one in inside if one.type == "link_open"]
    assert not any("evil" in str(link) for link in links)
    assert not any(one.type == "image" for one in inside)
    for word in ("octocat", "evil", "onerror", "rm -rf", "gone", "bold"):
        assert word not in outside and word not in blocks
    assert blocks.count("<details") == blocks.count("</details>") == 1
    assert [token.content for token in tokens if token.type == "fence"] == [f"printf '{text}'\n"]


@pytest.mark.parametrize("text", HOSTILE)
def test_code_span_holds_its_text(text: str) -> None:
    (paragraph,) = [token for token in MarkdownIt().parse(code(text)) if token.type == "inline"]
    (span,) = paragraph.children or []
    assert (span.type, span.content) == ("code_inline", " ".join(text.split()))


def test_code_in_a_title_is_html() -> None:
    assert html.unescape(tag("<b>`x`")) == "<code><b>`x`</code>"


@pytest.mark.parametrize("text", ["x" * 100_000, "ß🦑" * 2_000, "y" * 500])
def test_comment_fits_whatever_the_run(text: str) -> None:
    shown = render(run_of(*(saying(f"{text}{place}", place) for place in range(100))))
    assert len(shown.encode()) < 65_536
    assert shown.splitlines()[-1].startswith("… and ")


def test_halves_of_surrogate_pairs_can_be_written() -> None:
    assert "?" in render(run_of(saying("\ud800"))).encode().decode()


def test_long_commands_are_not_cut_in_half() -> None:
    shown = render(run_of(saying("z" * 10_000)))
    assert "```" not in shown
    assert "too long to copy" in shown


def test_broken_off_stale_and_flaky_are_told() -> None:
    again = cell("tools.unknown-name", ("tools.unknown-name", Verdict.SUCCESS), attempt=2)
    broken = cell("a.b", ("c.d", Verdict.SKIPPED), broke_off=True)
    shown = render(run_of(FAILED, again, broken, stale=["gone"]))
    assert "- stale in the baseline: `gone`" in shown
    assert "- flaky: `tools.unknown-name` on stdio" in shown
    assert "- broke off: `a.b` (stdio" in shown

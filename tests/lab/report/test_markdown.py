"""A pull request comment: always short enough, and no text of a server becomes markup."""

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
    finding = replace(check.findings[0], observed=text, expected=text, reproduce=f"printf '{text}'")
    return replace(
        FAILED, scenario=f"tools.s{place}", checks=[replace(check, id=f"c.{place}", findings=[finding])]
    )


def test_it_begins_with_the_conclusion_and_a_table() -> None:
    lines = render(run_of(FAILED, cell("tools.a", ("b.c", Verdict.SUCCESS)))).splitlines()
    assert lines[0] == "## ❌ does not conform: 1 passed, 1 failed"
    assert "| tools | ❌ 1 of 2 failed |" in lines


def test_revisions_of_a_client_are_not_listed() -> None:
    subject = SubjectRecord("python client.py", "http")
    lines = render(replace(run_of(FAILED, role="client"), subjects=[subject])).splitlines()
    assert "- `python client.py` on http" in lines


@pytest.mark.parametrize(
    ("result", "share"),
    [
        (cell("a.b", ("c.d", Verdict.SUCCESS)), "✅ 1"),
        (cell("a.b", ("c.d", Verdict.WARNING)), "✅ 1 with warnings"),
        (cell("a.b", ("c.d", Verdict.SKIPPED)), "⚠️ 1 of 1 incomplete"),
        (cell("a.b", outcome=Outcome.NOT_APPLICABLE), "-"),
    ],
)
def test_table_shows_the_worst_outcome_of_an_area(result: CellResult, share: str) -> None:
    assert f"| a | {share} |" in render(run_of(result)).splitlines()


def test_findings_are_collapsed_with_a_command_to_copy() -> None:
    comment = render(run_of(FAILED))
    assert "<details><summary><b>FAILURE</b> <code>TL-19</code> A fault</summary>" in comment
    assert "- expected: `this`" in comment and "- observed: `that`" in comment
    assert "```sh\nprintf %s x | server\n```" in comment
    assert f"(stdio {REVISION})" in comment


@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_a_server_is_always_code(text: str) -> None:
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(render(run_of(saying(text))))
    inside = [child for token in tokens for child in token.children or []]
    outside = "".join(child.content for child in inside if child.type in ("text", "html_inline"))
    blocks = "".join(token.content for token in tokens if token.type == "html_block")
    links = [child.attrs["href"] for child in inside if child.type == "link_open"]
    assert not any("evil" in str(link) for link in links)
    assert not any(child.type == "image" for child in inside)
    for word in ("octocat", "evil", "onerror", "rm -rf", "gone", "bold"):
        assert word not in outside and word not in blocks
    assert blocks.count("<details") == blocks.count("</details>") == 1
    assert f"printf '{text}'\n" in [token.content for token in tokens if token.type == "fence"]


@pytest.mark.parametrize("text", HOSTILE)
def test_code_span_holds_its_text(text: str) -> None:
    (paragraph,) = [token for token in MarkdownIt().parse(code(text)) if token.type == "inline"]
    (span,) = paragraph.children or []
    assert (span.type, span.content) == ("code_inline", " ".join(text.split()))


def test_code_in_a_title_is_html() -> None:
    assert html.unescape(tag("<b>`x`")) == "<code><b>`x`</code>"


@pytest.mark.parametrize("text", ["x" * 100_000, "ß🦑" * 2_000, "y" * 500])
def test_comment_never_exceeds_the_limit(text: str) -> None:
    comment = render(run_of(*(saying(f"{text}{place}", place) for place in range(100))))
    assert len(comment.encode()) < 65_536
    assert comment.splitlines()[-1].startswith("… and ")


def test_lone_surrogates_are_replaced() -> None:
    assert "?" in render(run_of(saying("\ud800"))).encode().decode()


def test_long_commands_are_left_out_instead_of_truncated() -> None:
    comment = render(run_of(saying("z" * 10_000)))
    assert "```sh" not in comment
    assert "too long to copy" in comment


def test_broken_off_stale_and_flaky_scenarios_are_listed() -> None:
    again = cell("tools.unknown-name", ("tools.unknown-name", Verdict.SUCCESS), attempt=2)
    broken = cell("a.b", ("c.d", Verdict.SKIPPED), broke_off=True)
    comment = render(run_of(FAILED, again, broken, stale=["gone"]))
    assert "- stale in the baseline: gone" in comment
    assert "- flaky: tools.unknown-name (stdio" in comment
    assert "`incomplete: a.b (stdio" in comment

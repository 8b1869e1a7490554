"""Text that a hostile subject would send, stored runs full of it, and what no output may contain."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import msgspec
from hypothesis import strategies as st

from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Outcome, Verdict
from tests.lab.runs import cell, run_of

FRAGMENTS = (
    *("\x1b[2J", "\x1b]52;c;aGk=\x07", "\x1b[1A\x1b[K", "\x9b31m", "\x07", "\x00", "\x7f", "\r", "\n", "\t"),
    *("\u202e", "\u2066", "\u200e", "\u061c", "\u200b", "\u2028", "\u2029", "\ufeff", "\U000e0041", "\x85"),
    *(
        "\n::set-output name=x::y",
        "::stop-commands::z",
        "##[error]x",
        "##vso[task.complete]",
        "##teamcity[x]",
    ),
    *(
        "\n# heading\n",
        "\n\n| a | b |\n|---|---|\n| c | d |\n\n",
        "|",
        "](https://example.com)",
        "https://a.example",
    ),
    *("![x](https://example.com)", "[x](https://example.com)", "<img src=x onerror=alert(1)>", "</details>"),
    *("</code>", "```", "\n```\n", "`", "~~~", "@octocat", "</script>", "]]>", "<!--", "{{ 1 }}", "%s", "\\"),
    *("FAILURE ", "conforms: "),
)
ENUMERATED = frozenset(
    {
        "outcome",
        "permission",
        "verdict",
        "level",
        "reason_kind",
        "started",
        "role",
        "suite",
        "trend",
        "before",
        "after",
    }
)
"""Fields with one of a few values; any other text is refused, or never comes from a subject."""
ACTING = ("Cc", "Cf", "Zl", "Zp", "Cs")
COMMAND = re.compile(r"^\s*::.*::|##(vso|teamcity)?\[", re.MULTILINE)
COLOUR = re.compile(r"\x1b\[(3[123]|0)m")

hostile_texts = st.lists(
    st.sampled_from(FRAGMENTS) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4), max_size=8
).map("".join)
WORST = "".join(FRAGMENTS)


def everything_in_one_run() -> Run:
    """A stored run with each kind of text that a report shows."""
    failed = cell(
        "tools.a", ("tools.a", Verdict.FAILURE), ("tools.b", Verdict.WARNING), trace="traces/a.ndjson"
    )
    return run_of(
        failed,
        msgspec.structs.replace(failed, outcome=Outcome.PASSED, attempt=2),
        cell("http.b", ("http.b", Verdict.SKIPPED), broke_off=True),
        cell("http.c", outcome=Outcome.NOT_APPLICABLE),
        stale=["gone"],
        expected=["elsewhere"],
        problem="a problem",
        suite="everything",
    )


def with_text(value: Any, text: str) -> Any:
    """A stored structure whose every text ends with `text`."""
    return msgspec.convert(_with_text(msgspec.to_builtins(value), text), type(value))


def _with_text(value: Any, text: str) -> Any:
    match value:
        case str():
            return value + text
        case list():
            return [_with_text(item, text) for item in value]
        case dict():
            return {key: item if key in ENUMERATED else _with_text(item, text) for key, item in value.items()}
    return value


def expect_harmless(output: str) -> None:
    """Nothing in it acts: no control or format character, no command of a CI system."""
    acting = {character for character in output if unicodedata.category(character) in ACTING}
    assert acting <= {"\n"}
    assert COMMAND.search(output) is None

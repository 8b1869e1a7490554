"""The project reads like other projects of its field: standard words, and names that say what they hold."""

import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.meta.tree import PACKAGE, ROOT, package_modules
from tests.meta.words import (
    MOST_MARKERS,
    MOST_PLACEHOLDERS,
    Text,
    density,
    documentation,
    messages,
    share,
    statements,
)

COMMANDS = sorted(
    path.stem for path in (PACKAGE / "cli").glob("*.py") if "\nSUMMARY" in path.read_text("utf-8")
)


def breach(name: str, texts: Iterable[str]) -> str | None:
    measured = density(texts)
    assert measured.words, f"{name}: nothing to read"
    if measured.per_thousand <= MOST_MARKERS:
        return None
    return f"{name}: {measured.per_thousand:.2f} marker words per 1,000, at most {MOST_MARKERS}"


def of_package(read: Callable[[str], Iterator[Text]]) -> Iterator[str]:
    return (text for module in package_modules() for _, text in read(module.text))


def pages() -> Iterator[str]:
    evidence = ROOT / "docs" / "evidence"
    for path in (ROOT / "docs").rglob("*.md"):
        if not path.is_relative_to(evidence):
            yield path.read_text("utf-8")


def help_texts() -> Iterator[str]:
    for arguments in ([], *([command] for command in COMMANDS)):
        command = [sys.executable, "-m", "assay", *arguments, "--help"]
        yield subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


# `python -m tests.meta.words PATH…` lists the places.
def test_comments_and_docstrings_use_standard_words() -> None:
    assert breach("comments and docstrings", of_package(documentation)) is None


def test_titles_findings_and_errors_use_standard_words() -> None:
    assert breach("strings", of_package(messages)) is None


def test_requirements_use_standard_words() -> None:
    files = (PACKAGE / "lab").rglob("requirements/*.toml")
    texts = (text for path in files for _, text in statements(path.read_text("utf-8")))
    assert breach("requirements", texts) is None


def test_docs_use_standard_words() -> None:
    assert breach("docs", pages()) is None


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "SECURITY.md"])
def test_pages_at_the_top_use_standard_words(name: str) -> None:
    assert breach(name, [(ROOT / name).read_text("utf-8")]) is None


def test_help_uses_standard_words() -> None:
    assert len(COMMANDS) > 10
    assert breach("help", help_texts()) is None


def test_names_say_what_they_hold() -> None:
    measured = share(module.text for module in package_modules())
    assert measured.bindings > 10_000
    assert measured.fraction <= MOST_PLACEHOLDERS, f"{measured.fraction:.2%} of bindings are placeholders"


@pytest.mark.parametrize(
    "text",
    [
        "Whoever shows a token is let in, and nobody else.",
        "This stands for what may be said of it now and then.",
        "It tells what is told, thereby.",
    ],
)
def test_the_gate_refuses_a_private_language(text: str) -> None:
    assert breach("sample", [text]) is not None


def test_the_gate_accepts_standard_english() -> None:
    assert (
        breach("sample", ["Returns the tools of the server. Raises an error if a name is unknown."]) is None
    )


def test_every_kind_of_text_is_read() -> None:
    source = '"""A docstring."""\n# A comment\nNAME = "a title"\n"""About it."""\n'

    assert [text for _, text in documentation(source)] == ["# A comment", "A docstring.", "About it."]
    assert [text for _, text in messages(source)] == ["a title"]
    assert [text for _, text in statements('# Head\n[A-01]\nstatement = "A rule"\n')] == ["# Head", "A rule"]


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("one = 1", 1),
        ("def found(told, *, said=None): ...", 3),
        ("for given, tool in pairs: self.kept = given", 2),
        ("names = [what for what in who]", 1),
        ("class _Seen: ...", 1),
        ("tool = reply.header", 0),
    ],
)
def test_placeholder_names_are_counted_wherever_they_are_bound(source: str, count: int) -> None:
    assert share([source]).placeholders == count


def test_the_gate_on_names_refuses_an_offending_sample() -> None:
    assert share(["one = found = 1\ntool = 2\n"]).fraction > MOST_PLACEHOLDERS

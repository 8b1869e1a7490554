"""Links between pages lead somewhere, and the index and the README list every page."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.meta.tree import ROOT, expect_none

PAGES = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)
CODE = re.compile(r"^```.*?^```[ \t]*$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)
ANCHOR = re.compile(r'<a id="([^"]+)">')


def links(text: str) -> list[str]:
    return [link for link in LINK.findall(CODE.sub("", text)) if "://" not in link]


def anchors(text: str) -> set[str]:
    """The anchors of a page, as GitHub makes them from its headings."""
    titles = HEADING.findall(re.sub(r"^```.*?^```[ \t]*$", "", text, flags=re.MULTILINE | re.DOTALL))
    slugs = (re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)
    return {*slugs, *ANCHOR.findall(text)}


def broken_links(page: Path) -> Iterator[str]:
    for link in links(page.read_text("utf-8")):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            yield f"{page.relative_to(ROOT)}: {link} leads nowhere"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
            yield f"{page.relative_to(ROOT)}: {link}: {target.name} has no such heading"


def targets(page: Path) -> set[Path]:
    names = (link.partition("#")[0] for link in links(page.read_text("utf-8")))
    return {(page.parent / name).resolve() for name in names if name}


def test_every_link_leads_somewhere() -> None:
    expect_none(breach for page in PAGES for breach in broken_links(page))


def test_the_readme_and_the_index_list_every_page() -> None:
    pages = {path for path in (ROOT / "docs").rglob("*") if path.suffix in (".md", ".json")}
    index = ROOT / "docs" / "index.md"
    expect_none(
        f"README.md does not list {page.name}" for page in sorted(pages - targets(ROOT / "README.md"))
    )
    expect_none(f"index.md does not list {page.name}" for page in sorted(pages - targets(index) - {index}))


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    text = "[a](gone.md) `[code](not.md)` [b](#here)\n\n# Not *here*, there: 1.2\n"
    assert links(text) == ["gone.md", "#here"]
    assert anchors(text) == {"not-here-there-12"}

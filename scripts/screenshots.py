"""Write docs/img/report-*.png: the HTML report of a stored run, as Chromium shows it.

python -m scripts.screenshots results/run-…    a run with findings shows the most

It looks best with the fonts that the page prefers (Debian: fonts-inter, fonts-jetbrains-mono).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from assay.lab.harness.run.archive import located, read_run, run_file
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from assay.lab.report.html.summary import broken
from assay.lab.report.registry import renderer
from tests.system.chromium import Browser, chromium

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "img"
WIDTH, HEIGHT = 1440, 900
LARGEST = 250_000
"""Bytes of one picture; they are in the repository."""


class Shot(Struct, frozen=True):
    name: str
    state: str
    scheme: str
    focus: str = ""
    """The element at the top of the window."""


def shots(run: Run) -> list[Shot]:
    # The defect with the most places usually has a short description.
    finding = max(broken(run), key=lambda defect: (defect.verdict is Verdict.FAILURE, defect.places)).link
    return [
        Shot("report-light", "", "light"),
        Shot("report-dark", "", "dark"),
        Shot("report-finding", finding, "light", ".run.open"),
        Shot("report-coverage", "#tab=coverage&area=http", "light"),
    ]


def take(browser: Browser, file: Path, shot: Shot) -> Path:
    with browser.page(file, width=WIDTH, height=HEIGHT) as page:
        page.media(scheme=shot.scheme)
        page.open(file, shot.state)
        page.value("document.fonts.ready.then(() => true)")
        if shot.focus:
            page.until(f"document.querySelector('{shot.focus}')")
            page.value(f"document.querySelector('{shot.focus}').scrollIntoView({{behavior: 'instant'}})")
        path = IMAGES / f"{shot.name}.png"
        page.picture(path)
        return path


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 1:
        print("name a stored run: make screenshots RUN=results/run-…", file=sys.stderr)
        return 2
    place = run_file(Path(arguments[0]))
    run = located(read_run(place), place.parent)
    if not broken(run):
        print(f"{place}: this run has no finding to show", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as home, chromium() as browser:
        file = Path(home) / "report.html"
        file.write_text(renderer("html")(run), "ascii")
        paths = [take(browser, file, shot) for shot in shots(run)]
    for path in paths:
        print(f"{path.relative_to(IMAGES.parents[1])}: {path.stat().st_size} bytes")
    return int(any(path.stat().st_size > LARGEST for path in paths))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

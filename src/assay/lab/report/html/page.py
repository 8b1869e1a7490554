"""The page: the overview as plain HTML, details as data that the script renders on demand."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Final

from jinja2 import Template
from markupsafe import Markup

from assay.lab.harness.run.conclusion import conclude
from assay.lab.harness.run.remark import remarks
from assay.lab.harness.run.run import Run
from assay.lab.harness.verdict import Verdict
from assay.lab.suites import suite_named

from .block import as_source, block, plain, template, ticked
from .coverage import Coverage, coverage
from .entries import entries
from .evidence import evidence
from .summary import MOST, broken, link, matrix, outcome_parts, style, trend

HOME: Final = Path(__file__).parent
SCRIPTS: Final = ("element.js", "state.js", "frames.js", "check.js", "list.js", "page.js")
STYLES: Final = ("page.css", "list.css", "print.css")


def render(run: Run) -> str:
    """Trace paths must be relative to the working directory (`archive.located`)."""
    by_cell = evidence(run)
    script, styles = _concatenated(SCRIPTS), _concatenated(STYLES)
    rules = broken(run)
    warnings = [rule for rule in rules[:MOST] if rule.verdict is Verdict.WARNING]
    page = _template().render(
        run=run,
        link=link,
        policy=_policy(script, styles),
        script=Markup(script),
        styles=Markup(styles),
        data=Markup(block(entries(run, by_cell))),
        blocks=[(number, Markup(frames.block)) for number, frames in sorted(by_cell.items()) if frames.block],
        left_out=sum(bool(frames.missing) for frames in by_cell.values()),
        conclusion=conclude(run).value,
        outcomes=outcome_parts(run),
        matrix=matrix(run),
        broken=[rule for rule in rules[:MOST] if rule not in warnings],
        warnings=warnings,
        more_broken=len(rules) - MOST,
        remarks=list(remarks(run)),
        trend=trend(run),
        coverage=_coverage(run),
    )
    # Pure ASCII survives any pipe, whatever its encoding.
    return page.encode("ascii", "xmlcharrefreplace").decode()


def _coverage(run: Run) -> Coverage | None:
    """Only for suites whose requirements come from the specification."""
    return coverage(run, suite_named(run.suite)) if run.suite in ("protocol", "client") else None


@cache
def _template() -> Template:
    return template(HOME / "page.html", plain=plain, style=style, ticked=ticked)


def _concatenated(names: tuple[str, ...]) -> str:
    return "\n".join((HOME / name).read_text("ascii") for name in names)


def _policy(script: str, styles: str) -> str:
    """A Content-Security-Policy that loads nothing and allows only our own script and styles."""
    allowed = {
        "default-src": "'none'",
        "script-src": as_source(script),
        "style-src": as_source(styles),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())

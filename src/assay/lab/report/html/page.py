"""The page: what people see first as plain HTML, the rest as data that its script shows when asked."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from assay.lab.harness.run.conclusion import conclude
from assay.lab.harness.run.run import Run
from assay.lab.suites import suite_named

from .block import block, plain, ticked
from .coverage import Coverage, coverage
from .entries import entries
from .evidence import evidence
from .summary import MOST, broken, link, matrix, outcome_parts, remarks, style

HOME: Final = Path(__file__).parent
SCRIPTS: Final = ("element.js", "state.js", "frames.js", "check.js", "list.js", "page.js")
STYLES: Final = ("page.css", "list.css", "print.css")


def render(run: Run) -> str:
    """The traces that the run names are read from where it says, seen from here (`archive.located`)."""
    shown = evidence(run)
    script, styles = _together(SCRIPTS), _together(STYLES)
    found = broken(run)
    page = _template().render(
        run=run,
        policy=_policy(script, styles),
        script=Markup(script),
        styles=Markup(styles),
        data=Markup(block(entries(run, shown))),
        blocks=[(number, Markup(one.block)) for number, one in sorted(shown.items()) if one.block],
        left_out=sum(bool(one.missing) for one in shown.values()),
        conclusion=conclude(run).value,
        outcomes=outcome_parts(run),
        matrix=matrix(run),
        broken=found[:MOST],
        more_broken=len(found) - MOST,
        remarks=list(remarks(run)),
        coverage=_coverage(run),
    )
    # ASCII alone: the page comes unharmed through any pipe, whatever its encoding.
    return page.encode("ascii", "xmlcharrefreplace").decode()


def _coverage(run: Run) -> Coverage | None:
    """Of the suites whose rows are sentences of the specification."""
    return coverage(run, suite_named(run.suite)) if run.suite in ("protocol", "client") else None


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(HOME),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(plain=plain, style=style, ticked=ticked)
    environment.globals.update(link=link)
    return environment.get_template("page.html")


def _together(names: tuple[str, ...]) -> str:
    return "\n".join((HOME / name).read_text("ascii") for name in names)


def _policy(script: str, styles: str) -> str:
    """Nothing may be loaded, and nothing may run but what was written here."""
    allowed = {
        "default-src": "'none'",
        "script-src": _hashed(script),
        "style-src": _hashed(styles),
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    return "; ".join(f"{name} {value}" for name, value in allowed.items())


def _hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

"""The page: the grid of all pairs, the faults by party, and for each pair its steps, faults and traffic."""

from __future__ import annotations

from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jinja2 import Template
from markupsafe import Markup
from msgspec import Struct

from assay.lab.matrix.pair import Pair, PairResult, Status
from assay.lab.report.html.block import as_source, plain, template, ticked

from .conversation import BUDGET, Conversation, conversation
from .fault import faults
from .square import described, heads, kind_of, legend, rows, title_of

if TYPE_CHECKING:
    from assay.lab.matrix.run import MatrixResult

HOME: Final = Path(__file__).parent


class Detail(Struct, frozen=True):
    """What the page shows of one pair."""

    result: PairResult
    kind: str
    letter: str
    conversation: Conversation


def render(result: MatrixResult, directory: Path) -> str:
    """`directory` has the traces."""
    matrix, results = result.matrix, result.results
    styles = (HOME / "page.css").read_text("ascii")
    counts = Counter(each.status for each in results.values())
    page = _template().render(
        matrix=matrix,
        title=matrix.title or "Clients and servers",
        result=result,
        policy=f"default-src 'none'; style-src {as_source(styles)}; base-uri 'none'; form-action 'none'",
        styles=Markup(styles),
        heads=heads(matrix, results),
        rows=rows(matrix, results),
        legend=legend(matrix, results),
        counts=[(counts[status], status.value) for status in Status if counts[status]],
        faults=faults(matrix, results),
        details=details(results, directory),
        client_title=lambda name: title_of(matrix.clients, name),
        server_title=lambda name: title_of(matrix.servers, name),
        described=described,
    )
    return page.encode("ascii", "xmlcharrefreplace").decode()


def details(results: dict[Pair, PairResult], directory: Path, budget: int = BUDGET) -> list[Detail]:
    """In the order of the file; faulty pairs use the budget first."""
    by_pair: dict[Pair, Conversation] = {}
    for pair in sorted(results, key=lambda pair: results[pair].status is not Status.FAULTY):
        by_pair[pair] = conversation(results[pair], directory, budget)
        budget -= by_pair[pair].size
    return [Detail(result, *kind_of(result), by_pair[pair]) for pair, result in results.items()]


@cache
def _template() -> Template:
    return template(HOME / "page.html", plain=plain, ticked=ticked)

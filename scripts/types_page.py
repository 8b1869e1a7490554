"""Write docs/evidence/types.md: every annotation of tests/server/annotations.py on Assay and on fastmcp.

python -m scripts.types_page           runs both and writes the page and tests/server/annotations.json
python -m scripts.types_page --check   fails if Assay's side of either is out of date, without running fastmcp

Exit codes: 0 written or up to date; 1 out of date, a value is treated wrongly, or a difference has no reason.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay import Server
from tests.server.annotations import MISSING, ROWS, SECTIONS, Row

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tests" / "server" / "annotations.py"
SCHEMAS = TABLE.with_suffix(".json")
PAGE = ROOT / "docs" / "evidence" / "types.md"
REASONS = Path(__file__).with_name("types_reasons.toml")
PEER = ROOT / "interop" / "peers" / "fastmcp"
PEER_PYTHON = ROOT / ".venv-peers" / "fastmcp" / "bin" / "python"
KINDS = {"verdict": "accepts or refuses", "value": "passes on", "schema": "describes", "type": "registers"}

HEAD = """\
# Types, beside fastmcp

{count} annotations on Assay and on fastmcp {version}, with {values} values. `make types` writes this page
from the table in `tests/server/annotations.py`, which is also a test. Why the two differ is explained in
[types.md](../types.md#differences-from-fastmcp).

- Assay accepts every value in the column *allows* and refuses every value in the column *forbids*.
- *(missing)* is a call without the argument.
- The last column names what fastmcp does otherwise, with a link to the reason. It is empty for {same} rows.
"""


@dataclass(frozen=True)
class Outcome:
    """What one framework does with a row: why it refuses the function, or the schema and, for each value,
    whether it is accepted and what arrives or is answered."""

    refused: str | None = None
    schema: dict[str, Any] | None = None
    values: tuple[tuple[bool, str], ...] = ()


@dataclass(frozen=True)
class Difference:
    kind: str
    text: str


async def run_assay(row: Row) -> Outcome:
    received: list[Any] = []
    server = Server("types")
    server.tools.add(row.function(received))
    values = []
    for value in (*row.good, *row.bad):
        received.clear()
        result = await server.tools.call("take", {} if value == MISSING else {row.name: value})
        values.append((not result.is_error, result.content[0].text if result.is_error else repr(received[0])))
    return Outcome(schema=dict(server.tools.list()[0].input_schema), values=tuple(values))


def run_fastmcp() -> dict[str, Outcome]:
    command = [str(PEER_PYTHON), str(PEER / "annotation_verdicts.py"), str(TABLE)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    outcomes = [json.loads(line) for line in lines]
    return {
        each["title"]: Outcome(
            each.get("refused"), each.get("schema"), tuple((ok, text) for ok, text in each.get("values", ()))
        )
        for each in outcomes
    }


def differences(row: Row, ours: Outcome, theirs: Outcome) -> Iterator[Difference]:
    if theirs.refused is not None:
        yield Difference("type", first_line(theirs.refused))
        return
    for value, (accepted, text), (other_accepted, other) in zip(
        (*row.good, *row.bad), ours.values, theirs.values, strict=True
    ):
        if accepted != other_accepted:
            verb = (
                f"accepts {written(value)} as {code(other)}"
                if other_accepted
                else f"refuses {written(value)}"
            )
            yield Difference("verdict", verb)
        elif accepted and normal(text) != normal(other):
            yield Difference("value", f"reads {written(value)} as {code(other)}")
    if described(row, ours) != described(row, theirs):
        yield Difference("schema", f"schema {code(json.dumps(described(row, theirs)))}")


def normal(text: str) -> str:
    """A representation without the name of the table's module and without the class of a time zone."""
    return text.replace("TzInfo(0)", "datetime.timezone.utc").replace("tests.server.", "")


def described(row: Row, outcome: Outcome) -> Any:
    """The schema of the parameter; titles of classes do not count."""
    schema = outcome.schema or {}
    own = {**schema.get("properties", {}).get(row.name, {})}
    if "$defs" in schema:
        own["$defs"] = schema["$defs"]
    return without_titles(own)


def without_titles(node: Any) -> Any:
    if isinstance(node, dict):
        return {k: without_titles(v) for k, v in node.items() if not (k == "title" and isinstance(v, str))}
    return [without_titles(item) for item in node] if isinstance(node, list) else node


def wrong_values(row: Row, outcome: Outcome) -> Iterator[str]:
    for number, (accepted, text) in enumerate(outcome.values):
        if accepted != (number < len(row.good)):
            yield f"{row.title}: {'accepted' if accepted else 'refused'}: {text}"


class Reasons:
    """Why rows differ, from `types_reasons.toml`: by kind of difference, the titles of rows."""

    def __init__(self) -> None:
        self.by_name: dict[str, dict[str, Any]] = tomllib.loads(REASONS.read_text("utf-8"))
        self.used: set[tuple[str, str]] = set()

    def find(self, row: Row, kind: str) -> str | None:
        for name, reason in self.by_name.items():
            if row.title in reason.get(kind, ()):
                self.used.add((kind, row.title))
                return name
        return None

    def unused(self) -> Iterator[str]:
        for name, reason in self.by_name.items():
            for kind in KINDS:
                for title in reason.get(kind, ()):
                    if (kind, title) not in self.used:
                        yield f"{name}: {title} has no such difference: {kind}"


def page(ours: dict[str, Outcome], theirs: dict[str, Outcome], problems: list[str]) -> str:
    reasons, same, sections = Reasons(), 0, []
    for title, rows in SECTIONS.items():
        sections += [
            "",
            f"## {title}",
            "",
            "| annotation | allows | forbids | schema | fastmcp |",
            "|---|---|---|---|---|",
        ]
        for row in rows:
            found = list(differences(row, ours[row.title], theirs[row.title]))
            same += not found
            sections.append(line(row, ours[row.title], explain(row, found, reasons, problems)))
    problems += reasons.unused()
    values = sum(len(row.good) + len(row.bad) for row in ROWS)
    head = HEAD.format(count=len(ROWS), version=peer_version(), values=values, same=same)
    return "\n".join([head, *sections, ""]).replace("\n\n\n", "\n\n")


def explain(row: Row, found: list[Difference], reasons: Reasons, problems: list[str]) -> str:
    """The differences of a row, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for difference in found:
        reason = reasons.find(row, difference.kind)
        if reason is None:
            problems.append(f"{row.title}: unexplained: {difference.kind}: {difference.text}")
        else:
            by_reason.setdefault(reason, []).append(difference.text)
    return "; ".join(f"{', '.join(texts)} ([why](../types.md#{name}))" for name, texts in by_reason.items())


def line(row: Row, outcome: Outcome, explained: str) -> str:
    schema = code(json.dumps(described(row, outcome)))
    good, bad = (", ".join(map(written, values)) for values in (row.good, row.bad))
    parts = [code(row.title), good, bad, schema, explained]
    return "| " + " | ".join(part.replace("|", "\\|") for part in parts) + " |"


def written(value: Any) -> str:
    return "*(missing)*" if value == MISSING else code(json.dumps(value))


def code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def first_line(text: str) -> str:
    return text.splitlines()[0].partition(". ")[0]


def peer_version() -> str:
    pins = (PEER / "requirements.txt").read_text("utf-8").splitlines()
    return dict(pin.split("==") for pin in pins)["fastmcp"]


def recorded(ours: dict[str, Outcome]) -> str:
    lines = (f" {json.dumps(title)}: {json.dumps(outcome.schema)}" for title, outcome in ours.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def main(arguments: list[str]) -> int:
    ours = {row.title: asyncio.run(run_assay(row)) for row in ROWS}
    problems = [problem for row in ROWS for problem in wrong_values(row, ours[row.title])]
    if arguments == ["--check"]:
        if SCHEMAS.read_text("utf-8") != recorded(ours):
            problems.append(f"{SCHEMAS.name} is out of date: make types")
        listed = PAGE.read_text("utf-8")
        problems += [
            f"{row.title} is not on the page: make types"
            for row in ROWS
            if code(row.title).replace("|", "\\|") not in listed
        ]
    else:
        text = page(ours, run_fastmcp(), problems)
        SCHEMAS.write_text(recorded(ours), "utf-8")
        PAGE.write_text(text, "utf-8")
    print("\n".join(problems) or f"{len(ROWS)} annotations: every difference is explained")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write docs/bad-input.md from the table of bad input in tests/bad_input.

python scripts/bad_input_page.py           writes the page
python scripts/bad_input_page.py --print   prints it
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.bad_input.row import NEWEST, NOTHING, After, Answer, Reply, Row, Setting  # noqa: E402
from tests.bad_input.table import SECTIONS  # noqa: E402

PAGE = ROOT / "docs" / "bad-input.md"
SHOWN = 72
"""How many characters of a message are shown."""

HEAD = """\
# Bad input

What Assay does with input that is wrong, odd or hostile. This page is made by `python scripts/bad_input_page.py` from
the table in `tests/bad_input`; the tests send every row over real pipes and real sockets, and after each one check
that the next good request is served, on the same connection and in the same session where there still is one.

{count} cases, {sent} of them sent over stdio and {posted} over HTTP.

- Without another remark a row is sent in a session of revision {newest}.
- A number such as -32700 is the code of a JSON-RPC error; *no id* means that it carries none, because none could be
  read. *served* means that the request got its result, *tool error* a result with `isError`.
- The number in front is the status of HTTP. *HTTP server* marks what uvicorn refuses before Assay sees it.
- *closes* means that the connection ends after the answer; *new connection* that the client still owes bytes on this
  one. All others are used again.
"""


def page() -> str:
    rows = [row for section in SECTIONS.values() for row in section]
    sent = sum(row.stdio is not None for row in rows)
    posted = sum(row.http is not None for row in rows)
    head = HEAD.format(count=len(rows), sent=sent, posted=posted, newest=NEWEST.date)
    return "\n".join([head, *(section(title, rows) for title, rows in SECTIONS.items())])


def section(title: str, rows: list[Row]) -> str:
    both = any(row.stdio is not None for row in rows)
    columns = ["case", "sent", *(["stdio"] if both else []), "HTTP", "because"]
    lines = [f"## {title}", "", line(columns), line(["---"] * len(columns))]
    for row in rows:
        stdio = [over_stdio(row.stdio)] if both else []
        lines.append(line([case(row), code(what(row)), *stdio, over_http(row.http), row.because]))
    return "\n".join([*lines, ""])


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def case(row: Row) -> str:
    if row.setting is Setting.SESSION or row.setting.value in row.name or row.setting is Setting.ALONE:
        return row.name
    return f"{row.name}, {row.setting.value}" if row.setting is Setting.REQUIRED else row.name


def what(row: Row) -> str:
    if row.shown:
        return row.shown
    text = row.sent.decode("utf-8", "backslashreplace")
    text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(row.sent):,} bytes)"


def code(text: str) -> str:
    if not text:
        return "(empty)"
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def over_stdio(replies: tuple[Reply, ...] | None) -> str:
    if replies is None:
        return "–"
    return " and ".join(map(str, replies)) or str(NOTHING)


def over_http(answer: Answer | None) -> str:
    if answer is None:
        return "–"
    if answer.status is None:
        return "no answer"
    parts = [str(answer.status)]
    if answer.by_server:
        parts.append("HTTP server")
    elif answer.reply is not NOTHING:
        parts.append(str(answer.reply))
    if answer.after is After.CLOSED:
        parts.append("closes")
    elif answer.after is After.OWED:
        parts.append("new connection")
    return ", ".join(parts)


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), "utf-8")

"""Write docs/evidence/bad-input.md from the table of bad input in tests/bad_input.

python -m scripts.bad_input_page           writes the page
python -m scripts.bad_input_page --print   prints it
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bad_input.row import NEWEST, NOTHING, After, Answer, Ended, Reply, Row
from tests.bad_input.table import SECTIONS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "evidence" / "bad-input.md"
SHOWN = 108
"""How many characters of a message are shown."""

HEAD = """\
# Bad input

What Assay does with input that is wrong, odd or hostile. This page is made by
`python -m scripts.bad_input_page` from the table in `tests/bad_input`. The tests send every row over real
pipes and real sockets, and check after each one that the next good request is served: on the same
connection and in the same session, where there still is one.

{count} cases: {sent} are sent over stdio, {posted} over HTTP and {framed} over a WebSocket.

- Most rows are sent in a session of revision {newest}; those about hosts, lengths and the like would come
  back alike without one.
- A number such as -32700 is the code of a JSON-RPC error. *no id*: it carries none, because none could be
  read or none was given. *served*: the request got its result. *tool error*: a result with `isError`.
- In the column HTTP, the status comes first. *closes*: the connection ends after the answer. The server is
  our own, the one of `server.run("http")`; another one refuses in its own words what is no HTTP.
- In the column WebSocket, *closes with 1002* names the close code; the next request takes a new connection.
"""


def page() -> str:
    rows = [row for section in SECTIONS.values() for row in section]
    sent = sum(row.stdio is not None for row in rows)
    posted = sum(row.http is not None for row in rows)
    framed = sum(row.websocket is not None for row in rows)
    head = HEAD.format(count=len(rows), sent=sent, posted=posted, framed=framed, newest=NEWEST.date)
    return "\n".join([head, *(section(title, rows) for title, rows in SECTIONS.items())])


def section(title: str, rows: list[Row]) -> str:
    used = [field for field in WAYS if any(getattr(row, field) is not None for row in rows)]
    columns = ["case", "sent", *(WAYS[field][0] for field in used), "because"]
    lines = [f"## {title}", "", line(columns), line(["---"] * len(columns))]
    for row in rows:
        cells = [WAYS[field][1](getattr(row, field)) for field in used]
        lines.append(line([row.case, code(what(row)), *cells, row.because]))
    return "\n".join([*lines, ""])


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def what(row: Row) -> str:
    if row.shown:
        return row.shown
    text = "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in row.sent)
    text = text.replace("\\x0d\\x0a", "\\r\\n") if row.raw else text
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}… ({len(row.sent):,} bytes)"


def code(text: str) -> str:
    if not text:
        return "(empty)"
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def over_link(replies: tuple[Reply, ...] | Ended | None) -> str:
    if replies is None:
        return "not sent"
    if isinstance(replies, Ended):
        return str(replies)
    return " and ".join(map(str, replies)) or str(NOTHING)


def over_http(answer: Answer | None) -> str:
    if answer is None:
        return "not sent"
    if answer.status is None:
        return "no answer"
    parts = [str(answer.status)]
    if answer.reply is not NOTHING:
        parts.append(str(answer.reply))
    if answer.after is After.CLOSED:
        parts.append("closes")
    return ", ".join(parts)


WAYS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "stdio": ("stdio", over_link),
    "websocket": ("WebSocket", over_link),
    "http": ("HTTP", over_http),
}
"""Fields of a row, each with the title of its column and what fills it."""


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(page())
    else:
        PAGE.write_text(page(), "utf-8")

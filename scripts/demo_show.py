"""How a conversation looks: one line per message, arrows for the direction, colour where it is wanted."""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from typing import Any, Final

Json = dict[str, Any]

TO_SERVER: Final = "→"
FROM_SERVER: Final = "←"
COLOURS: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "cyan": "36"}
# Long enough to see what a message says, short enough for two windows side by side.
WIDTH: Final = min(shutil.get_terminal_size((110, 24)).columns, 140)


def paint(text: str, colour: str) -> str:
    # https://no-color.org: any value but an empty one counts.
    if os.environ.get("NO_COLOR") or not sys.stdout.isatty():
        return text
    return f"\033[{COLOURS[colour]}m{text}\033[0m"


def heading(text: str) -> None:
    print(f"\n{paint(text, 'bold')}")


def step(text: str) -> None:
    print(f"  {paint(text, 'dim')}")


def remark(text: str) -> None:
    print(f"      {paint(text, 'dim')}")


def fault(text: str) -> None:
    print(f"    {paint('✗', 'red')} {text}")


def message(arrow: str, content: Mapping[str, Any], note: str = "") -> None:
    """Show one message; `note` tells how it travelled, such as `200 application/json`."""
    colour = "cyan" if arrow == TO_SERVER else "green"
    shown_note = f" [{note}]" if note else ""
    line = _shorten(describe(content), WIDTH - len(shown_note) - 6)
    print(f"    {paint(arrow, colour)} {line}{paint(shown_note, 'dim')}")


def describe(content: Mapping[str, Any]) -> str:
    """A JSON-RPC message as kind, id and content, without what all messages share."""
    number = f" #{content['id']}" if "id" in content else ""
    if "method" in content:
        return f"{content['method']}{number} {_compact(content.get('params'))}".rstrip()
    kind = "error" if "error" in content else "result"
    return f"{kind}{number} {_compact(content.get(kind))}"


def _compact(value: Any) -> str:
    if isinstance(value, dict) and "_meta" in value:
        # Last, since a line is cut at its end and `_meta` is much the same in all messages.
        value = {**{key: inner for key, inner in value.items() if key != "_meta"}, "_meta": value["_meta"]}
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"

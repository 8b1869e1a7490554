"""Prints conversations: one line per message, with arrows for the direction, and colour on a terminal."""

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
# Long enough for the content of a message, short enough for two windows side by side.
WIDTH: Final = min(shutil.get_terminal_size((110, 24)).columns, 140)


def paint(text: str, colour: str) -> str:
    # https://no-color.org: any non-empty value counts.
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
    """Show one message; `note` is about its transport, such as `200 application/json`."""
    colour = "cyan" if arrow == TO_SERVER else "green"
    shown_note = f" [{note}]" if note else ""
    line = _shorten(describe(content), WIDTH - len(shown_note) - 6)
    print(f"    {paint(arrow, colour)} {line}{paint(shown_note, 'dim')}")


def describe(content: Mapping[str, Any]) -> str:
    """A JSON-RPC message as kind, id and content."""
    number = f" #{content['id']}" if "id" in content else ""
    if "method" in content:
        return f"{content['method']}{number} {_compact(content.get('params'))}".rstrip()
    kind = "error" if "error" in content else "result"
    return f"{kind}{number} {_compact(content.get(kind))}"


def _compact(value: Any) -> str:
    if isinstance(value, dict) and "_meta" in value:
        # Last, because lines are cut and `_meta` is similar in all messages.
        value = {**{key: inner for key, inner in value.items() if key != "_meta"}, "_meta": value["_meta"]}
    return "" if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _shorten(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"

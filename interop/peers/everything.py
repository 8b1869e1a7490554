"""The fixtures of the official suite as data for servers on other SDKs.

A tool has fixed `content`, or `rounds` of questions and a final text (`says`), or neither if the server has a
function for it. `stateful` tools need their state back with the answers; a `choosy` one asks only questions
that the client declared support for. With `--more`, a server also has the tools that only our client needs,
and lists resources in pages.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

FIXTURES: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
MORE = "--more" in sys.argv
PAGE = 2
"""Resources on a page, with `--more`."""
CAPABILITIES = {
    "elicitation/create": "elicitation",
    "sampling/createMessage": "sampling",
    "roots/list": "roots",
}
if MORE:
    FIXTURES["tools"] += FIXTURES["more_tools"]


def page_of(items: list[Any], cursor: str | None) -> tuple[list[Any], str | None]:
    """The page that a cursor names, and the cursor of the next one."""
    begin, end = int(cursor or 0), int(cursor or 0) + PAGE
    if not MORE:
        return items, None
    return items[begin:end], str(end) if end < len(items) else None


def filled(value: Any, fields: Mapping[str, str]) -> Any:
    """Replace `{name}` by fields, at any depth."""
    if isinstance(value, str):
        for name, text in fields.items():
            value = value.replace(f"{{{name}}}", text)
        return value
    if isinstance(value, list):
        return [filled(item, fields) for item in value]
    if isinstance(value, dict):
        return {key: filled(item, fields) for key, item in value.items()}
    return value


def described(answer: Mapping[str, Any]) -> str:
    """The client's answer as text: a form, a message of its model, or its roots."""
    if "action" in answer:
        return f"action={answer['action']}, content={json.dumps(answer.get('content', {}))}"
    if "roots" in answer:
        return ", ".join(root["uri"] for root in answer["roots"])
    return str(answer["content"].get("text", answer["content"]["type"]))


def fields_of(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Values for `filled`: the fields of each form, and all answers together."""
    forms = [answer.get("content") or {} for answer in answers.values() if "action" in answer]
    fields = {name: str(value) for form in forms for name, value in form.items()}
    return {**fields, "answers": "; ".join(map(described, answers.values()))}

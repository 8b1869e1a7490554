"""Names, descriptions and annotations: what a model chooses by, and what a host asks consent by."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from assay.lab.harness.subject.facts import hints
from assay.model.visible import visible_lines

from .rule import Problem, problem

LONGEST_NAME: Final = 60
"""Characters of server and tool name together, in Cursor."""
LONGEST_DESCRIPTION: Final = 2048
MOST_COMPARED: Final = 500
"""Names that are compared with each other."""
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_CHANGES: Final = frozenset(
    (
        *(
            "add",
            "append",
            "archive",
            "assign",
            "cancel",
            "clear",
            "close",
            "create",
            "deploy",
            "edit",
            "insert",
        ),
        *(
            "install",
            "merge",
            "move",
            "patch",
            "post",
            "publish",
            "put",
            "rename",
            "replace",
            "reset",
            "restart",
        ),
        *("save", "send", "set", "start", "stop", "submit", "update", "upload", "write"),
    )
)
_DESTROYS: Final = frozenset(
    (
        "delete",
        "destroy",
        "drop",
        "erase",
        "kill",
        "overwrite",
        "purge",
        "remove",
        "revoke",
        "truncate",
        "wipe",
    )
)
_READS: Final = frozenset(
    ("count", "describe", "fetch", "find", "get", "list", "lookup", "peek", "query", "read", "search", "show")
)


class Named:
    """An item with what it is called in messages."""

    def __init__(self, kind: str, fields: dict[str, Any], key: str) -> None:
        name = fields.get(key)
        self.kind = kind
        self.name = name if isinstance(name, str) else ""
        self.label = f"{kind} {self.name}"
        self.fields = fields

    @property
    def description(self) -> str:
        text = self.fields.get("description")
        return text.strip() if isinstance(text, str) else ""


def text_problems(items: Sequence[Named], server: str) -> Iterator[Problem]:
    for item in items:
        yield from _texts(item)
        if item.kind == "tool":
            yield from _tool_name(item, server)
            yield from _annotations(item)
    yield from _duplicates(items)
    yield from _similar([item for item in items if item.kind == "tool"])


def _texts(item: Named) -> Iterator[Problem]:
    text = item.description
    if not text:
        yield problem("description-missing", item.label, "no description", "/description")
    elif len(text) > LONGEST_DESCRIPTION:
        yield problem("description-long", item.label, f"{len(text)} characters", "/description")
    for place, value in (("/name", item.name), ("/description", text)):
        if _has_hidden(value):
            message = f"invisible characters in: {visible_lines(value)[:200]}"
            yield problem("description-hidden", item.label, message, place)
    for place, name, described in _parameters(item):
        if not described:
            yield problem(
                "description-parameter", item.label, f"parameter `{name}` has no description", place
            )


def _has_hidden(text: str) -> bool:
    plain = text.replace("\r", "").replace("\t", "").replace("::", "").replace("##", "")
    return visible_lines(plain) != plain


def _parameters(item: Named) -> Iterator[tuple[str, str, bool]]:
    """Place, name, and whether it is described, of the parameters of a tool or prompt."""
    schema = item.fields.get("inputSchema")
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, value in properties.items() if isinstance(properties, dict) else ():
        described = isinstance(value, dict) and bool(value.get("description"))
        yield f"/inputSchema/properties/{name}", name, described
    arguments = item.fields.get("arguments")
    for index, value in enumerate(arguments if isinstance(arguments, list) else ()):
        if isinstance(value, dict):
            yield f"/arguments/{index}", str(value.get("name")), bool(value.get("description"))


def _tool_name(item: Named, server: str) -> Iterator[Problem]:
    if not _NAME.fullmatch(item.name):
        yield problem(
            "name-characters", item.label, f"{item.name[:120]!r} has {len(item.name)} characters", "/name"
        )
    elif len(server) + len(item.name) > LONGEST_NAME:
        message = f"{len(server)} characters of the server's name and {len(item.name)} of the tool's"
        yield problem("name-length", item.label, message, "/name")


def _annotations(item: Named) -> Iterator[Problem]:
    known = hints(item.fields)
    reads, destroys = known.get("readOnlyHint"), known.get("destructiveHint")
    words = [word.lower() for word in _WORDS.findall(item.name)]
    verb = next((word for word in words if word in _CHANGES | _DESTROYS | _READS), "")
    for message in _contradictions(verb, reads=reads, destroys=destroys):
        yield problem("annotation-contradiction", item.label, message, "/annotations")
    if reads is None:
        yield problem("annotation-missing", item.label, "no `readOnlyHint`", "/annotations")
    if not isinstance(item.fields.get("outputSchema"), dict):
        yield problem("output-schema-missing", item.label, "no `outputSchema`", "")


def _contradictions(verb: str, *, reads: Any, destroys: Any) -> Iterator[str]:
    if verb in _CHANGES | _DESTROYS and reads is True:
        yield f"the name says {verb}, `readOnlyHint` says that it only reads"
    if verb in _DESTROYS and reads is not True and destroys is False:
        yield f"the name says {verb}, `destructiveHint` is false"
    if verb in _READS and destroys is True:
        yield f"the name says {verb}, `destructiveHint` is true"
    if reads is True and destroys is True:
        yield "`readOnlyHint` and `destructiveHint` are both true"


def _duplicates(items: Iterable[Named]) -> Iterator[Problem]:
    items = list(items)
    counted = Counter((item.kind, item.name) for item in items)
    for (kind, name), count in counted.items():
        if count > 1:
            yield problem("name-duplicate", f"{kind} {name}", f"{count} have this name", "/name")
    by_text: dict[tuple[str, str], list[Named]] = defaultdict(list)
    for item in items:
        if item.description:
            by_text[item.kind, " ".join(item.description.lower().split())].append(item)
    for alike in by_text.values():
        names = list(dict.fromkeys(item.name for item in alike))
        if len(names) > 1:
            others = ", ".join(names[1:6])
            yield problem("description-duplicate", alike[0].label, f"the same as of {others}", "/description")


def _similar(tools: Sequence[Named]) -> Iterator[Problem]:
    names = list(dict.fromkeys(tool.name for tool in tools if tool.name))[:MOST_COMPARED]
    for index, name in enumerate(names):
        for other in names[index + 1 :]:
            if _is_similar(name, other):
                yield problem("name-similar", f"tool {name}", f"`{name}` and `{other}`", "/name")


def _is_similar(left: str, right: str) -> bool:
    plain, other = (re.sub(r"[^a-z0-9]", "", name.lower()) for name in (left, right))
    if plain == other:
        return True
    if min(len(plain), len(other)) < 5 or plain[-1:].isdigit() != other[-1:].isdigit():
        return False
    # A plural is the usual pair of a list and an item, and still confuses.
    return _differs_by_one(plain, other)


def _differs_by_one(left: str, right: str) -> bool:
    """Whether one letter was added, removed or replaced."""
    if abs(len(left) - len(right)) > 1:
        return False
    short, long = sorted((left, right), key=len)
    same = next(
        (n for n, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short)
    )
    begin = same + 1 if len(short) == len(long) else same
    if short[same : same + 1].isdigit() and long[same : same + 1].isdigit():
        return False  # numbered names are meant to be alike
    return short[begin:] == long[same + 1 :]

"""A server with the skills extension: its skills as files, and the methods that list and read them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final

from assay.lab.harness import FaultContext, Json
from assay.lab.harness.sabotage.saboteur import Double
from assay.lab.suite.extension_method import SKILLS
from assay.model.error import INVALID_PARAMS

from .server import DoubleRequest, ErrorReply, answering, check_headers, extended

MARKDOWN: Final = "text/markdown"
DIRECTORY: Final = "inode/directory"


def _manifest(fields: Json) -> str:
    lines = "\n".join(f"{key}: {value}" for key, value in fields.items())
    return f"---\n{lines}\n---\n\nRead `references/` first.\n"


_PDF: Final = {"name": "pdf-tools", "description": "Fill in forms", "license": "Apache-2.0", "stars": 5}
_REFUNDS: Final = {"name": "refunds", "description": "Pay money back"}
_DAILY: Final = {"name": "daily", "description": "What happened today"}
FIELDS: Final[dict[str, Json]] = {
    "skill://pdf-tools/SKILL.md": _PDF,
    "skill://acme/refunds/SKILL.md": _REFUNDS,
    "skill://reports/daily/SKILL.md": _DAILY,
}
"""The frontmatter of each skill, by the URI of its manifest."""
FILES: Final[dict[str, str]] = {
    **{uri: _manifest(fields) for uri, fields in FIELDS.items()},
    "skill://pdf-tools/notes.md": "# Notes\n",
    "skill://pdf-tools/references/forms.md": "# Forms\n",
}
_DYNAMIC: Final = "skill://reports/daily/SKILL.md"


def entry(uri: str) -> Json:
    return {"uri": uri, "frontmatter": FIELDS[uri], "resources": _listed(uri)}


def _listed(uri: str) -> Any:
    home = uri.removesuffix("SKILL.md")
    mine = {name: text.encode() for name, text in FILES.items() if name.startswith(home)}
    files = [{"uri": name, "digest": _digest(data), "size": len(data)} for name, data in mine.items()]
    return "dynamic" if uri == _DYNAMIC else files


def _digest(data: bytes) -> str:
    return f"sha256:{sha256(data).hexdigest()}"


def resource(uri: str) -> Json:
    """A manifest in `resources/list`."""
    fields = FIELDS[uri]
    fixed = {"uri": uri, "name": fields["name"], "description": fields["description"], "mimeType": MARKDOWN}
    return {**fixed, "_meta": {"io.modelcontextprotocol.skills/license": fields.get("license", "none")}}


def children(directory: str) -> list[Json] | None:
    """The children of a directory; None if it does not exist."""
    below = [uri.removeprefix(f"{directory}/") for uri in FILES if uri.startswith(f"{directory}/")]
    names = dict.fromkeys(path.partition("/")[0] for path in below)
    return [_child(f"{directory}/{name}", name) for name in names] or None


def _child(uri: str, name: str) -> Json:
    return {"uri": uri, "name": name, "mimeType": MARKDOWN if uri in FILES else DIRECTORY}


PAGE: Final = 2
COMPLETE: Final = {"resultType": "complete"}
CACHEABLE: Final = {**COMPLETE, "ttlMs": 60_000, "cacheScope": "public"}


def _list(request: DoubleRequest) -> Json:
    return {**CACHEABLE, **_page(request, "skills", [entry(uri) for uri in FIELDS])}


def _get(request: DoubleRequest) -> Json:
    uri = request.params.get("uri")
    if uri not in FIELDS:
        raise ErrorReply(INVALID_PARAMS, f"unknown skill {uri}", status=400)
    return {**CACHEABLE, "skill": entry(uri)}


def _read(request: DoubleRequest) -> Json | None:
    uri = str(request.params.get("uri"))
    if uri not in FILES:
        return None
    check_headers(request, uri)
    return {**CACHEABLE, "contents": [{"uri": uri, "mimeType": MARKDOWN, "text": FILES[uri]}]}


def _read_directory(request: DoubleRequest) -> Json:
    items = children(str(request.params.get("uri")))
    if items is None:
        raise ErrorReply(INVALID_PARAMS, f"{request.params.get('uri')} is not a directory", status=400)
    return {**COMPLETE, **_page(request, "resources", items)}


def _page(request: DoubleRequest, key: str, items: list[Json]) -> Json:
    cursor = request.params.get("cursor", "0")
    if not (isinstance(cursor, str) and cursor.isdecimal() and int(cursor) < len(items)):
        raise ErrorReply(INVALID_PARAMS, f"unknown cursor {cursor!r}", status=400)
    end = int(cursor) + PAGE
    more = {"nextCursor": str(end)} if end < len(items) else {}
    return {key: items[int(cursor) : end], **more}


def _reply(message: Json, context: FaultContext) -> Json:
    more = {"resources": [resource(uri) for uri in FIELDS]}
    return extended(message, context, SKILLS, {"directoryRead": True}, more)


DOUBLE: Final = Double(
    "skills",
    request=answering(
        {
            "skills/list": _list,
            "skills/get": _get,
            "resources/read": _read,
            "resources/directory/read": _read_directory,
        }
    ),
    reply=_reply,
)

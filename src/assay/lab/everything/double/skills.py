"""A server with the skills extension: entries of skills, their files, and their directories."""

from __future__ import annotations

from typing import Final

from assay.lab.everything.extension import SKILLS
from assay.lab.harness.sabotage.saboteur import Double, FaultContext, Json
from assay.model.error import INVALID_PARAMS

from .answering import Asked, Refused, answering, check_headers, extended
from .skill_files import FIELDS, FILES, MARKDOWN, children, entry, resource

PAGE: Final = 2
COMPLETE: Final = {"resultType": "complete"}
CACHEABLE: Final = {**COMPLETE, "ttlMs": 60_000, "cacheScope": "public"}


def _list(asked: Asked) -> Json:
    return {**CACHEABLE, **_page(asked, "skills", [entry(uri) for uri in FIELDS])}


def _get(asked: Asked) -> Json:
    uri = asked.params.get("uri")
    if uri not in FIELDS:
        raise Refused(INVALID_PARAMS, f"there is no skill {uri}", status=400)
    return {**CACHEABLE, "skill": entry(uri)}


def _read(asked: Asked) -> Json | None:
    uri = str(asked.params.get("uri"))
    if uri not in FILES:
        return None
    check_headers(asked, uri)
    return {**CACHEABLE, "contents": [{"uri": uri, "mimeType": MARKDOWN, "text": FILES[uri]}]}


def _read_directory(asked: Asked) -> Json:
    found = children(str(asked.params.get("uri")))
    if found is None:
        raise Refused(INVALID_PARAMS, f"{asked.params.get('uri')} is no directory", status=400)
    return {**COMPLETE, **_page(asked, "resources", found)}


def _page(asked: Asked, key: str, items: list[Json]) -> Json:
    cursor = asked.params.get("cursor", "0")
    if not (isinstance(cursor, str) and cursor.isdecimal() and int(cursor) < len(items)):
        raise Refused(INVALID_PARAMS, f"there is no page {cursor!r}", status=400)
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

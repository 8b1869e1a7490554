"""`server.json`, the registry entry of a server: the official format, and the profile's block in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from assay.lab.harness.subject.registry_entry import (
    KINDS,
    PROFILE,
    PROFILE_IDS,
    PUBLISHER,
    profile_block,
)
from assay.revisions.registry import BY_DATE

from .capability_manifests import version as semantic
from .form import (
    Issue,
    ValidationReport,
    Validator,
    both,
    count,
    digest,
    flag,
    many,
    one_of,
    record,
    table,
    text,
    validation_report,
)

SCHEMA: Final = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
NAME: Final = r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+"
MAX_BYTES: Final = 1024 * 1024
MAX_PROVIDED: Final = 4096
"""Bytes of JSON that a publisher may add to an entry: the limit of the official registry."""

_RANGE: Final = re.compile(r"[\^~<>=*|]|\.x\b|\bx\.|\s-\s")
_word: Final = text(1)
_url: Final = text(1, 2048, r"https?://[^\s]+", "a URL")
_url_or_template: Final = text(1, 2048, r"(https?://|\{)[^\s]+", "a URL or a URL template")
_hash: Final = text(pattern=r"[a-f0-9]{64}", description="64 hexadecimal digits")

_INPUT: Final[Mapping[str, Validator]] = {
    "choices": many(text()),
    "default": text(),
    "description": text(),
    "format": one_of("string", "number", "boolean", "filepath"),
    "isRequired": flag,
    "isSecret": flag,
    "placeholder": text(),
    "value": text(),
}
_variables: Final = table(record({}, _INPUT))
_named: Final = record({"name": _word}, {**_INPUT, "variables": _variables})


def _argument(value: Any, path: str) -> Iterator[Issue]:
    optional = {**_INPUT, "variables": _variables, "isRepeated": flag, "name": _word, "valueHint": text()}
    yield from record({"type": one_of("named", "positional")}, optional)(value, path)
    if isinstance(value, dict):
        needed = {"named": ("name",), "positional": ("value", "valueHint")}.get(str(value.get("type")), ())
        if needed and not any(name in value for name in needed):
            yield Issue("schema", path, f"a {value['type']} argument needs {' or '.join(needed)}")


def _transport(*types: str) -> Validator:
    """Every transport but stdio needs a URL."""
    form = record(
        {"type": one_of(*types)}, {"url": _url_or_template, "headers": many(_named), "variables": _variables}
    )

    def check(value: Any, path: str) -> Iterator[Issue]:
        yield from form(value, path)
        if isinstance(value, dict) and value.get("type") != "stdio" and "url" not in value:
            yield Issue("schema", f"{path}.url", "is missing")

    return check


def _exact(value: Any, path: str) -> Iterator[Issue]:
    """The registry rejects version ranges."""
    if isinstance(value, str) and (_RANGE.search(value) or value == "latest"):
        yield Issue("semantic", path, f"must be a single version, not {value[:80]!r}")


def _whole(value: Any, path: str) -> Iterator[Issue]:
    if isinstance(value, dict) and value.get("registryType") == "mcpb" and "fileSha256" not in value:
        yield Issue("semantic", f"{path}.fileSha256", "is missing, but required for an mcpb package")


_package: Final = both(
    record(
        {
            "registryType": one_of("npm", "pypi", "cargo", "oci", "nuget", "mcpb"),
            "identifier": _word,
            "transport": _transport("stdio", "streamable-http", "sse"),
        },
        {
            "version": both(text(1, 255), _exact),
            "fileSha256": _hash,
            "registryBaseUrl": _url,
            "runtimeHint": text(),
            "runtimeArguments": many(_argument),
            "packageArguments": many(_argument),
            "environmentVariables": many(_named),
        },
    ),
    _whole,
)
_icon: Final = record(
    {"src": text(1, 255, r"https://[^\s]+", "an https URL")},
    {
        "mimeType": one_of("image/png", "image/jpeg", "image/jpg", "image/svg+xml", "image/webp"),
        "sizes": many(text(pattern=r"\d+x\d+|any", description="WxH or any")),
        "theme": one_of("light", "dark"),
    },
)


def _seconds(value: Any, path: str) -> Iterator[Issue]:
    if not isinstance(value, int | float) or isinstance(value, bool) or value <= 0:
        yield Issue("schema", path, f"must be a number of seconds, not {str(value)[:80]}")


_listed: Final = {"n": count, "sha256": _hash}
_profile: Final = record(
    {
        "id": one_of(*PROFILE_IDS),
        "transports": many(one_of("stdio", "streamable-http")),
        "protocolVersions": many(one_of(*BY_DATE)),
        "jsonrpc": record({"batch": flag}),
        "capabilities": record(
            {
                **{kind: record(_listed) for kind in KINDS},
                "prompts": record({**_listed, "versions": table(semantic), "digests": table(digest)}),
            }
        ),
    },
    {
        "streaming": record({"sse": flag}, {"heartbeatSec": _seconds, "resume": many(one_of(*BY_DATE))}),
        "auth": record({"modes": many(_word), "scopes": many(_word)}),
    },
    "warned",
)
_server: Final = record(
    {
        "name": text(3, 200, NAME, "a namespace and a name, such as com.example/server"),
        "description": text(1, 100),
        "version": both(text(1, 255), _exact),
    },
    {
        "$schema": _word,
        "title": text(1, 100),
        "websiteUrl": _url,
        "repository": record({"url": _url, "source": _word}, {"id": text(), "subfolder": text()}),
        "icons": many(_icon),
        "packages": many(_package),
        "remotes": many(_transport("streamable-http", "sse")),
        "_meta": record({}, {PUBLISHER: record({}, {PROFILE: _profile})}, "warned"),
    },
    "warned",
)


def check(entry: Any) -> ValidationReport:
    """All issues of an entry."""
    issues = list(_server(entry, ""))
    if isinstance(entry, dict):
        issues += _beyond_schema(entry)
    return validation_report(issues)


def _beyond_schema(entry: dict[str, Any]) -> Iterator[Issue]:
    """Issues that a schema cannot express."""
    if entry.get("$schema") != SCHEMA:
        yield Issue("linter", "$schema", f"should be {SCHEMA}", "warning")
    meta = entry.get("_meta")
    provided = json.dumps(meta.get(PUBLISHER, {})) if isinstance(meta, dict) else ""
    if len(provided.encode()) > MAX_PROVIDED:
        message = f"has {len(provided.encode())} bytes of JSON; the registry accepts at most {MAX_PROVIDED}"
        yield Issue("semantic", f"_meta.{PUBLISHER}", message)
    if not profile_block(entry):
        yield Issue(
            "linter", f"_meta.{PUBLISHER}.{PROFILE}", "is missing: the entry claims no profile", "info"
        )
    if not entry.get("packages") and not entry.get("remotes"):
        yield Issue(
            "linter", "", "has neither packages nor remotes: clients cannot reach the server", "warning"
        )


def read(data: bytes) -> tuple[Any, ValidationReport]:
    """An entry and its issues; the entry is None if the data is not JSON."""
    if len(data) > MAX_BYTES:
        return None, validation_report(
            [Issue("json", "", f"{len(data)} bytes exceed the limit of {MAX_BYTES}")]
        )
    try:
        entry = json.loads(data)
    except (ValueError, RecursionError) as error:
        return None, validation_report([Issue("json", "", f"not JSON: {error}")])
    return entry, check(entry)

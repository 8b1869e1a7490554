"""`mcpServers` configurations: the files that desktop applications and editors use to name servers."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from .stdio import Stdio
from .target import ServerEntry

TOP_KEYS: Final = ("mcpServers", "servers")
"""Where files have their servers: most applications, and VS Code."""
MOST_BYTES: Final = 1024 * 1024
MOST_SERVERS: Final = 100
STDIO_KEYS: Final = frozenset({"command", "args", "env", "cwd"})
URL_KEYS: Final = frozenset({"url", "headers", "auth"})
KIND_KEYS: Final = frozenset({"type", "transport"})
HOST_KEYS: Final = frozenset({"disabled", "alwaysAllow", "autoApprove", "description", "icon", "gallery"})
"""Settings of an application for its users. `disabled` is honoured, the others are not for a client."""
SCHEMES: Final = {
    "http": ("http", "https"),
    "streamable-http": ("http", "https"),
    "streamableHttp": ("http", "https"),
    "sse": ("http", "https"),
    "ws": ("ws", "wss"),
    "websocket": ("ws", "wss"),
}
FIXES: Final = {
    "envFile": "write the variables into env, or refer to them as ${NAME}",
    "timeout": "pass timeout= to Client",
    "serverUrl": "write url",
    "httpUrl": "write url",
    "uri": "write url",
    "arguments": "write args",
    "environment": "write env",
}


def read_configuration(
    target: Mapping[str, Any] | str | os.PathLike[str], environ: Mapping[str, str] = os.environ
) -> dict[str, ServerEntry]:
    """The servers of a configuration, by their names; those that are `disabled` are left out.

    Raises:
        ValueError: it is invalid. The message names the server, the key and the fix.
        OSError: the file cannot be read.
    """
    place = "the configuration" if isinstance(target, Mapping) else os.fspath(target)
    document = target if isinstance(target, Mapping) else _load(Path(target))
    servers = next((document[key] for key in TOP_KEYS if key in document), None)
    if not isinstance(servers, Mapping):
        raise ValueError(f'{place} has no servers: write {{"mcpServers": {{"name": {{"command": …}}}}}}')
    if len(servers) > MOST_SERVERS:
        raise ValueError(f"{place} has more than {MOST_SERVERS} servers")
    entries = dict(_read_servers(servers, environ, place))
    if not entries:
        raise ValueError(f"{place} has no server that is not disabled")
    return entries


def _load(path: Path) -> Mapping[str, Any]:
    with path.open("rb") as file:
        text = file.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise ValueError(f"{path} has more than {MOST_BYTES} bytes")
    try:
        document = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        from .hint import script_fix

        raise ValueError(script_fix(str(path)) or f"{path} is not valid JSON: {error}") from None
    if not isinstance(document, dict):
        raise ValueError(f"{path} is not a JSON object")
    return document


def _read_servers(
    servers: Mapping[str, Any], environ: Mapping[str, str], place: str
) -> Iterator[tuple[str, ServerEntry]]:
    for name, settings in servers.items():
        where = f"{place}: server {name!r}"
        if not isinstance(name, str) or not name or not name.isprintable():
            raise ValueError(f"{where}: the name is empty, or has characters that cannot be printed")
        if not isinstance(settings, Mapping):
            raise ValueError(f"{where}: must be an object with command or url")
        if settings.get("disabled") is not True:
            yield name, _Entry(settings, environ, where).read()


class _Entry:
    """Reads the settings of one server."""

    def __init__(self, settings: Mapping[str, Any], environ: Mapping[str, str], where: str) -> None:
        self._settings = settings
        self._environ = environ
        self._where = where

    def read(self) -> ServerEntry:
        settings = self._settings
        if ("command" in settings) == ("url" in settings):
            self._check_keys(STDIO_KEYS | URL_KEYS)
            raise self._problem("write either command, for a process, or url")
        is_process = "command" in settings
        self._check_keys(STDIO_KEYS if is_process else URL_KEYS)
        return self._process() if is_process else self._url()

    def _check_keys(self, keys: frozenset[str]) -> None:
        known = keys | KIND_KEYS | HOST_KEYS
        for key in self._settings:
            if key in known:
                continue
            if key in STDIO_KEYS | URL_KEYS:
                other = "url" if key in STDIO_KEYS else "command"
                raise self._problem(f"{key} is not for servers with {other}")
            fix = FIXES.get(key, f"known are {', '.join(sorted(keys | {'type'}))}")
            raise self._problem(f"unknown key {key!r}: {fix}")

    def _process(self) -> ServerEntry:
        if self._kind() not in (None, "stdio"):
            raise self._problem(f"type {self._kind()!r} needs url, not command")
        words = [self._text("command"), *self._texts("args")]
        cwd = os.path.expanduser(self._text("cwd")) if "cwd" in self._settings else None
        env = self._table("env")
        return ServerEntry(Stdio(*words, env=env, cwd=cwd))

    def _url(self) -> ServerEntry:
        url, kind = self._text("url"), self._kind()
        schemes = SCHEMES.get(kind, ()) if kind is not None else ("http", "https", "ws", "wss")
        if not schemes:
            raise self._problem(f"unknown type {kind!r}: one of {', '.join(('stdio', *SCHEMES))}")
        if url.partition("://")[0].lower() not in schemes:
            raise self._problem(f"url must begin with {' or '.join(f'{scheme}://' for scheme in schemes)}")
        return ServerEntry(url, self._table("headers"), self._auth())

    def _auth(self) -> str | None:
        if "auth" not in self._settings:
            return None
        auth = self._settings["auth"]
        if not isinstance(auth, str) or not auth:
            raise self._problem('auth must be "oauth" or a token, as "${TOKEN}"')
        return self._expand("auth", auth)

    def _kind(self) -> str | None:
        kind = self._settings.get("type", self._settings.get("transport"))
        if kind is not None and not isinstance(kind, str):
            raise self._problem("type must be a text")
        return kind

    def _text(self, key: str) -> str:
        return self._expand(key, self._settings[key])

    def _texts(self, key: str) -> list[str]:
        values = self._settings.get(key, [])
        if not isinstance(values, list | tuple):
            raise self._problem(f"{key} must be a list of texts")
        return [self._expand(key, value) for value in values]

    def _table(self, key: str) -> dict[str, str] | None:
        values = self._settings.get(key)
        if values is None:
            return None
        if not isinstance(values, Mapping):
            raise self._problem(f"{key} must be an object of texts")
        return {str(name): self._expand(f"{key}.{name}", value) for name, value in values.items()}

    def _expand(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            raise self._problem(f"{key} must be a text, not {type(value).__name__}")
        try:
            return expand(value, self._environ.get)
        except ValueError as error:
            raise self._problem(f"{key}: {error}") from None

    def _problem(self, reason: str) -> ValueError:
        return ValueError(f"{self._where}: {reason}")


def expand(text: str, lookup: Callable[[str], str | None]) -> str:
    """Replace `${NAME}`, `${env:NAME}` and `${NAME:-default}` by variables of the environment. Their values
    are not expanded again.

    Raises:
        ValueError: a variable is not set, or the form is unknown.
    """
    parts, rest = [], text
    while True:
        before, mark, after = rest.partition("${")
        parts.append(before)
        if not mark:
            return "".join(parts)
        expression, end, rest = after.partition("}")
        if not end:
            raise ValueError(f"'${{' has no '}}' in {text!r}")
        parts.append(_value_of(expression, lookup))


def _value_of(expression: str, lookup: Callable[[str], str | None]) -> str:
    name, has_default, default = expression.removeprefix("env:").partition(":-")
    if not name.replace("_", "a").isalnum():
        raise ValueError(
            f"${{{expression}}} is not known here: write a variable of the environment, ${{NAME}}"
        )
    value = lookup(name)
    if value is None and not has_default:
        raise ValueError(f"the variable {name} is not set: set it, or write ${{{name}:-default}}")
    return default if value is None or (has_default and not value) else value

"""A server as applications name it: a command that they start, or a URL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

NONE: Final[Mapping[str, str]] = MappingProxyType({})
URL_KEYS: Final = ("url", "serverUrl", "httpUrl")


class Local(NamedTuple):
    """A command that serves on its standard streams."""

    words: tuple[str, ...]
    env: Mapping[str, str] = NONE


class Remote(NamedTuple):
    url: str
    headers: Mapping[str, str] = NONE


Entry = Local | Remote


def read_entry(settings: Any) -> Entry:
    """The entry in the settings of any application.

    Raises:
        ValueError: there is neither a command nor a URL.
    """
    if not isinstance(settings, dict):
        raise ValueError("the entry is not an object")
    url = next((settings[key] for key in URL_KEYS if isinstance(settings.get(key), str)), None)
    if url is not None:
        return Remote(url, _texts(settings.get("headers")))
    older: Any = settings.get("command")
    if isinstance(older, dict):  # how Zed wrote it at first
        settings = {**older, "command": older.get("path")}
    command, words, env = (settings.get(key) for key in ("command", "args", "env"))
    if not isinstance(command, str):
        raise ValueError("the entry has neither a command nor a URL")
    return Local((command, *(str(word) for word in words or ())), _texts(env))


def _texts(table: Any) -> Mapping[str, str]:
    return dict(_pairs(table)) if isinstance(table, dict) else NONE


def _pairs(table: dict[Any, Any]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        yield str(name), str(value)

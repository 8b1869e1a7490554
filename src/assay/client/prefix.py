"""Names of several servers in one client: each has the name of its server before it, and finds back to it.

Tools and prompts: `forecast` of `weather` is `weather_forecast`. URIs: the server is the first part after the
scheme, so `data://today` is `data://weather/today`, and `urn:isbn:1` is `urn:weather/isbn:1`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from assay.model.notice import Change

SEPARATOR: Final = "_"
SCHEME_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.")


class Prefixes:
    """The names of the servers.

    Raises:
        ValueError: two of them could have the same names.
    """

    def __init__(self, servers: Iterable[str]) -> None:
        from urllib.parse import quote

        self._parts = {server: quote(server, safe="") for server in servers}
        self._servers = {part: server for server, part in self._parts.items()}
        for server in self._parts:
            for other in self._parts:
                if other.startswith(server + SEPARATOR):
                    raise ValueError(
                        f"the names of servers {server!r} and {other!r} are ambiguous in names such as "
                        f"{other + SEPARATOR + 'x'!r}: rename one"
                    )

    # Names.

    def name(self, server: str, name: str) -> str:
        return f"{server}{SEPARATOR}{name}"

    def split_name(self, name: str) -> tuple[str, str]:
        """The server, and the name there.

        Raises:
            ValueError: no server has this name.
        """
        for server in self._parts:
            if name.startswith(server + SEPARATOR):
                return server, name[len(server) + len(SEPARATOR) :]
        known = ", ".join(f"{server}{SEPARATOR}…" for server in self._parts)
        raise ValueError(f"no server for {name!r:.200}: names are {known}")

    # URIs.

    def uri(self, server: str, uri: str) -> str | None:
        """The URI with its server; None for one without a scheme, which cannot have it."""
        start = _path_start(uri)
        return None if start is None else f"{uri[:start]}{self._parts[server]}/{uri[start:]}"

    def split_uri(self, uri: str) -> tuple[str, str]:
        """The server, and the URI there.

        Raises:
            ValueError: no server has this URI.
        """
        # One without a scheme has no server in it: it comes from a server as it is, which could name another.
        start = _path_start(uri)
        part, separator, rest = uri[start:].partition("/")
        server = self._servers.get(part) if separator and start is not None else None
        if server is None:
            known = ", ".join(f"scheme://{part}/…" for part in self._servers)
            raise ValueError(f"no server for {uri!r:.200}: URIs are {known}")
        return server, uri[:start] + rest

    def change(self, server: str, change: Change) -> Change:
        """A change, with the server in its URI."""
        if change.uri is None:
            return change
        return Change(change.kind, self.uri(server, change.uri) or change.uri)

    def outward(self, server: str, value: Any) -> Any:
        """A decoded result, with the server in the URIs of resources."""
        if isinstance(value, list):
            return [self.outward(server, item) for item in value]
        if not isinstance(value, dict):
            return value
        changed = {
            name: value[name] if name in ("_meta", "structuredContent") else self.outward(server, item)
            for name, item in value.items()
        }
        if isinstance(value.get("uri"), str):
            changed["uri"] = self.uri(server, value["uri"]) or value["uri"]
        return changed


def _path_start(uri: str) -> int | None:
    """Where the part after the scheme begins."""
    scheme, colon, rest = uri.partition(":")
    if not colon or not scheme or not SCHEME_CHARACTERS.issuperset(scheme):
        return None
    return len(scheme) + (3 if rest.startswith("//") else 1)

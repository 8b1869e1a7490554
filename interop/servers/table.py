"""The table of servers that our client uses: fixture servers of other SDKs, and what each cannot offer."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from interop.peer import PROGRAMS, command_of, pinned_version

HERE = Path(__file__).parent


class Lack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Features that some servers do not have, on some transports and revisions: on all, if none is named."""

    features: list[str]
    reason: str
    servers: list[str] = []
    transports: list[str] = []
    revisions: list[str] = []

    def applies(self, server: str, transport: str, revision: str) -> bool:
        pairs = ((server, self.servers), (transport, self.transports), (revision, self.revisions))
        return all(not accepted or value in accepted for value, accepted in pairs)


class FixtureServer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A server on another SDK; `name` is its folder in `peers`."""

    name: str
    title: str
    package: str
    revisions: list[str]
    transports: list[str]
    quick: list[str] = []
    """The transports of `--quick`."""

    @property
    def folder(self) -> Path:
        return PROGRAMS / self.name

    def version(self) -> str:
        return pinned_version(self.folder, self.package)

    def command(self, node: str, environments: Path, transport: str) -> list[str]:
        """The command that serves the fixtures.

        Raises:
            Aborted: the SDK is not installed.
        """
        program = command_of(self.folder, "server", self.package, node, environments)
        option = {"stdio": ["--stdio"], "sse": ["--sse"]}.get(transport, [])
        return [*program, *option, "--more"]


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    server: list[FixtureServer]
    lack: list[Lack]

    def lacks(self, server: str, transport: str, revision: str) -> dict[str, str]:
        """Reasons by feature."""
        applying = (lack for lack in self.lack if lack.applies(server, transport, revision))
        return {feature: lack.reason for lack in applying for feature in lack.features}

    def problems(self, features: Sequence[str]) -> Iterator[str]:
        """What the table names and does not exist."""
        names = {server.name for server in self.server}
        for lack in self.lack:
            yield from (f"unknown feature: {feature}" for feature in {*lack.features} - {*features})
            yield from (f"unknown server: {name}" for name in {*lack.servers} - names)


def read_table(path: Path = HERE / "servers.toml") -> Table:
    table: Any = tomllib.loads(path.read_text("utf-8"))
    return msgspec.convert(table, Table)

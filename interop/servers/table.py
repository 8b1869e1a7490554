"""The table of servers that our client uses: fixture servers of other SDKs, and what each cannot offer."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from interop.official import Aborted, Exit

HERE = Path(__file__).parent
PROGRAMS = HERE.parent / "peers"


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

    @property
    def is_python(self) -> bool:
        return (self.folder / "server.py").is_file()

    def version(self) -> str:
        if self.is_python:
            pins = (self.folder / "requirements.txt").read_text("utf-8").splitlines()
            return dict(pin.split("==") for pin in pins)[self.package]
        manifest = json.loads((self.folder / "package.json").read_text("utf-8"))
        return str(manifest["dependencies"][self.package])

    def command(self, node: str, environments: Path, transport: str) -> list[str]:
        """The command that serves the fixtures.

        Raises:
            Aborted: the SDK is not installed.
        """
        python = environments / self.name / "bin" / "python"
        installed = python if self.is_python else self.folder / "node_modules" / self.package
        if not installed.exists():
            problem = f"{self.title} is not installed: {installed} is missing; run `make interop`"
            raise Aborted(Exit.COULD_NOT_RUN, problem)
        program = (
            [str(python), str(self.folder / "server.py")]
            if self.is_python
            else [node, str(self.folder / "server.mjs")]
        )
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

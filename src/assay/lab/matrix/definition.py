"""The file of a matrix: which clients and servers there are, and what each client does with each server."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.lab.error import InvalidOptions
from assay.lab.harness.bounded_toml import LARGEST, BadToml, parse_toml
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.transport import Transport
from assay.revisions.registry import BY_DATE

from .pair import Pair
from .step import KNOWN, Step

NAME: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,39}")
TRANSPORTS: Final = (Transport.STDIO.value, Transport.HTTP.value)
MOST_PARTIES: Final = 64
MOST_STEPS: Final = 100
MOST_WORDS: Final = 100
TIMEOUT: Final = 60.0
LONGEST_TIMEOUT: Final = 3600.0
FIX: Final = "docs/matrix.md describes the file"
_PLACE: Final = re.compile(r"\{([a-z_]+)\}")


class Party(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What clients and servers have in common. An empty list of revisions means all of the file."""

    title: str = ""
    revisions: list[str] = []
    environment: dict[str, str] = {}
    files: list[str] = []
    """Globs, relative to the file. If one of these files changes, the pairs with this party are run again."""
    stdio: list[str] = []
    http: list[str] = []
    reason: str = ""
    """Why it lacks a transport or a revision."""

    def command(self, transport: str) -> list[str]:
        return self.stdio if transport == Transport.STDIO else self.http

    def lacks(self, pair: Pair) -> str:
        """What of the pair it does not support; empty if it supports all."""
        if not self.command(pair.transport):
            return pair.transport
        return pair.revision if self.revisions and pair.revision not in self.revisions else ""


class ClientRow(Party, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lacks_steps: dict[str, str] = {}
    """Steps that it cannot do, with the reason: they are not asked for."""


class ServerColumn(Party, frozen=True, kw_only=True, forbid_unknown_fields=True):
    url: str = ""
    """The address on HTTP, with `{port}`."""
    lacks_steps: dict[str, str] = {}
    """Steps of the file that it cannot serve, with the reason."""
    steps: dict[str, dict[str, Any]] = {}
    """Steps in place of those of the file."""


class Matrix(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    clients: dict[str, ClientRow]
    servers: dict[str, ServerColumn]
    steps: dict[str, dict[str, Any]]
    title: str = ""
    transports: tuple[str, ...] = TRANSPORTS
    revisions: list[str] = []
    timeout: float = TIMEOUT
    """Seconds for the client of one pair, and before it for the server to start."""
    capabilities: list[str] = []
    answers: dict[str, Any] = {}
    variables: dict[str, str] = {}
    """Replace `{name}` in commands, environments and files."""
    here: str = ""
    """The directory of the file; not written in it."""

    def pairs(self) -> Iterator[Pair]:
        for client in self.clients:
            for server in self.servers:
                for transport in self.transports:
                    for revision in self.revisions:
                        yield Pair(client, server, transport, revision)

    def steps_of(self, pair: Pair) -> list[Step]:
        """What this client does with this server, without what one of them lacks."""
        client, server = self.clients[pair.client], self.servers[pair.server]
        steps = [Step.of(name, fields) for name, fields in (server.steps or self.steps).items()]
        lacking = {*client.lacks_steps, *server.lacks_steps}
        return [step for step in steps if step.name not in lacking and step.applies(pair)]

    def lacking_steps(self, pair: Pair) -> dict[str, str]:
        """The steps that are not asked for, with reasons."""
        client, server = self.clients[pair.client], self.servers[pair.server]
        names = server.steps or self.steps
        lacking = {**client.lacks_steps, **server.lacks_steps}
        return {name: reason for name, reason in lacking.items() if name in names}

    def filled(self, text: str, **values: str) -> str:
        """The text with placeholders replaced. Others stay: a command may contain JSON."""
        known = {**self._places(), **values}
        return _PLACE.sub(lambda match: known.get(match[1], match[0]), text)

    def _places(self) -> dict[str, str]:
        places = {"here": self.here, "python": sys.executable}
        for name, value in self.variables.items():
            places[name] = _PLACE.sub(lambda match: places.get(match[1], match[0]), value)
        return places


def read_matrix(path: Path) -> Matrix:
    """
    Raises:
        InvalidOptions: the file cannot be read, or is not the file of a matrix.
    """
    try:
        table = parse_toml(read_regular(path.resolve(), LARGEST))
        matrix = msgspec.convert({**table, "here": str(path.resolve().parent)}, Matrix)
    except OSError as error:
        raise InvalidOptions(
            f"{path}: {error.strerror}", "give the file of a matrix: see docs/matrix.md"
        ) from error
    except (UnfitFile, BadToml, msgspec.ValidationError) as error:
        raise InvalidOptions(f"{path}: {error}", FIX) from error
    return checked(matrix, str(path))


def checked(matrix: Matrix, place: str = "matrix") -> Matrix:
    """The matrix with its defaults.

    Raises:
        InvalidOptions: it names something unknown, or too much.
    """
    if not matrix.revisions:
        newest = sorted(BY_DATE)[-1:]
        matrix = msgspec.structs.replace(matrix, revisions=newest)
    problem = next(_problems(matrix), None)
    if problem is not None:
        raise InvalidOptions(f"{place}: {problem}", FIX)
    return matrix


def _problems(matrix: Matrix) -> Iterator[str]:
    for kind, parties in (("clients", matrix.clients), ("servers", matrix.servers)):
        if not 0 < len(parties) <= MOST_PARTIES:
            yield f"{len(parties)} {kind}: from 1 to {MOST_PARTIES} are possible"
        for name, party in parties.items():
            yield from (f"{kind}.{name}: {problem}" for problem in _party_problems(name, party, matrix))
    yield from _unknown("transport", matrix.transports, TRANSPORTS)
    yield from _unknown("revision", matrix.revisions, BY_DATE)
    if not 0 < matrix.timeout <= LONGEST_TIMEOUT:
        yield f"timeout = {matrix.timeout:g}: seconds up to {LONGEST_TIMEOUT:g}"
    yield from _step_problems(matrix.steps, "steps")


def _party_problems(name: str, party: Party, matrix: Matrix) -> Iterator[str]:
    if not NAME.fullmatch(name):
        yield "a name has up to 40 small letters, digits, dots and hyphens"
    if not party.stdio and not party.http:
        yield "it needs a command: stdio = [...] or http = [...]"
    if max(len(party.stdio), len(party.http)) > MOST_WORDS:
        yield f"a command has at most {MOST_WORDS} words"
    yield from _unknown("revision", party.revisions, BY_DATE)
    if isinstance(party, ClientRow):
        yield from _unknown("step", party.lacks_steps, _all_steps(matrix))
        if party.stdio and not any("{server}" in word for word in party.stdio):
            yield "the stdio command needs {server}, the place for the command line of the server"
    if isinstance(party, ServerColumn):
        yield from _unknown("step", party.lacks_steps, party.steps or matrix.steps)
        yield from _step_problems(party.steps, "steps")
        if party.http and not party.url:
            yield 'on HTTP it needs its address, such as url = "http://127.0.0.1:{port}/mcp"'


def _all_steps(matrix: Matrix) -> set[str]:
    return {*matrix.steps, *(name for server in matrix.servers.values() for name in server.steps)}


def _step_problems(steps: Mapping[str, Mapping[str, Any]], place: str) -> Iterator[str]:
    if len(steps) > MOST_STEPS:
        yield f"{place}: at most {MOST_STEPS} are possible"
    for name, fields in steps.items():
        if fields.get("do") not in KNOWN:
            yield f"{place}.{name}: do = {fields.get('do')!r} is unknown: one of {', '.join(KNOWN)}"


def _unknown(kind: str, names: Sequence[str] | Mapping[str, Any], known: Any) -> Iterator[str]:
    for name in names:
        if name not in known:
            yield f"unknown {kind}: {name}; one of {', '.join(known)}"

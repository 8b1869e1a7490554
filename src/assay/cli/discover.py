"""List the MCP servers that the applications on this machine have configured.

examples:
  assay discover                       servers of Claude, Cursor, VS Code, Windsurf and Zed, without secrets
  assay discover --host cursor         those of one application; repeatable
  assay discover --start               also start or reach each, and count its tools
  assay discover --json                for programs

Reads the files of the user and of the project in this directory. Nothing is started without --start, which
runs the commands that these files name.

exit codes:
  0 done, 1 a file or entry is not valid, or with --start a server did not answer; 2 wrong usage
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from assay.cli.options.value import seconds
from assay.cli.output.stream import emit_lines

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

if TYPE_CHECKING:
    from assay.hosts.discovery import Configured

SUMMARY = "list the servers that applications on this machine have configured"
GROUP = "call"
USAGE = "[options]"
PATIENCE: Final = 20.0
AT_ONCE: Final = 4


def configure(parser: Parser) -> None:
    add = parser.add_argument_group("servers").add_argument
    add("--host", action="append", metavar="HOST", help="an application; repeatable; default: all")
    add("--start", action="store_true", help="start or reach each server, and list its tools")
    add("--timeout", type=seconds, default=PATIENCE, metavar="S", help="for each server; default: 20")
    add("--json", action="store_true", help="print JSON")


def execute(options: argparse.Namespace) -> int:
    from assay.hosts.discovery import discover
    from assay.hosts.host import HOSTS

    names = options.host or list(HOSTS)
    unknown = next((name for name in names if name not in HOSTS), None)
    if unknown is not None:
        raise CommandFailed(ExitCode.USAGE, f"unknown host: {unknown}", f"known are {', '.join(HOSTS)}")
    servers = list(discover(HOSTS, {name: _files(name) for name in names}))
    answers = asyncio.run(_start(servers, options.timeout)) if options.start else [""] * len(servers)
    emit_lines(_as_json(servers, answers) if options.json else _lines(servers, answers))
    is_bad = any(server.problem for server in servers) or any(answer.startswith("no: ") for answer in answers)
    return ExitCode.DOES_NOT_CONFORM if is_bad else ExitCode.OK


def _files(name: str) -> list[Path]:
    from assay.hosts.host import HOSTS, applications

    host = HOSTS[name]
    project = [Path(host.project)] if host.project else []
    return [host.places.path(Path.home(), applications()), *project]


def _lines(servers: Sequence[Configured], answers: Sequence[str]) -> Iterator[str]:
    if not servers:
        yield "no servers are configured; `assay install HOST server.py` adds yours"
    place: tuple[str, Path] | None = None
    for server, answer in zip(servers, answers, strict=True):
        if (server.host, server.path) != place:
            place = server.host, server.path
            yield f"{server.host}: {server.path}"
        if server.entry is None:
            yield f"  {server.name or 'file'}: not valid: {server.problem}"
            continue
        yield f"  {server.name}: {_shown(server)}"
        if answer:
            yield f"    {answer}"


def _shown(server: Configured) -> str:
    from assay.hosts.discovery import masked
    from assay.hosts.entry import Remote

    assert server.entry is not None
    entry = masked(server.entry)
    if isinstance(entry, Remote):
        return f"{entry.url}{''.join(f' {name}: {value}' for name, value in entry.headers.items())}"
    variables = [f"{name}={value}" for name, value in entry.env.items()]
    return " ".join((*variables, *(word if "•" in word else shlex.quote(word) for word in entry.words)))


def _as_json(servers: Sequence[Configured], answers: Sequence[str]) -> Iterator[str]:
    documents: list[dict[str, Any]] = []
    for server, answer in zip(servers, answers, strict=True):
        document = {"host": server.host, "file": str(server.path), "name": server.name}
        document |= {"problem": server.problem} if server.entry is None else {"server": _shown(server)}
        documents.append(document | ({"answer": answer} if answer else {}))
    yield from json.dumps({"servers": documents}, indent=2, ensure_ascii=False).splitlines()


async def _start(servers: Sequence[Configured], timeout: float) -> list[str]:
    limit = asyncio.Semaphore(AT_ONCE)

    async def answer(server: Configured) -> str:
        async with limit:
            return await _answer(server, timeout)

    return list(await asyncio.gather(*(answer(server) for server in servers)))


async def _answer(server: Configured, timeout: float) -> str:
    from assay.client import Client, Stdio
    from assay.hosts.discovery import without_secrets
    from assay.hosts.entry import Local
    from assay.model.client_error import ClientError

    entry = server.entry
    if entry is None:
        return ""
    target: Stdio | str
    if isinstance(entry, Local):
        target, headers = Stdio(*entry.words, env=dict(entry.env)), None
    else:
        target, headers = entry.url, dict(entry.headers)
    try:
        async with asyncio.timeout(timeout), Client(target, headers=headers) as client:
            tools = await client.tools()
            return f"ok: {len(tools)} {'tool' if len(tools) == 1 else 'tools'}, revision {client.revision}"
    except TimeoutError:
        return f"no: no answer within {timeout:g} s"
    except (ClientError, ValueError) as error:
        return f"no: {without_secrets(str(error).splitlines()[0], entry)}"

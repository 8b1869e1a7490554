"""What can be seen of a server beside its messages, as `--observe`, `--registry` and `--otlp` give it."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.subject.disk import Directories, Unobservable
from assay.lab.harness.subject.otlp import Receiver
from assay.lab.harness.subject.out_of_band import OutOfBand


def check_observed(directories: list[Path]) -> None:
    """
    Raises:
        CommandFailed: one is not there, which may be a slip: nothing would ever be seen to change in it.
    """
    for directory in directories:
        if not directory.is_dir():
            hint = "make it, or name the directory that the server writes to"
            raise CommandFailed(ExitCode.USAGE, f"--observe: there is no directory {directory}", hint)
    try:
        Directories(directories).state()
    except Unobservable as error:
        raise CommandFailed(ExitCode.USAGE, f"--observe: {error}") from error


def registry_entry(path: Path) -> bytes:
    """
    Raises:
        CommandFailed: it cannot be read, or is no entry at all.
    """
    try:
        data = path.read_bytes()
        is_object = isinstance(json.loads(data), dict)
    except OSError as error:
        raise CommandFailed(ExitCode.USAGE, f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise CommandFailed(ExitCode.USAGE, f"{path} is no server.json: {error}") from error
    if not is_object:
        raise CommandFailed(ExitCode.USAGE, f"{path} is no server.json: it holds no object")
    return data


def address(text: str) -> tuple[str, int]:
    """
    Raises:
        CommandFailed: it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise CommandFailed(ExitCode.USAGE, f"no address: {text!r}", "write it as 127.0.0.1:4318")
    return host.strip("[]"), int(port)


def check_beside(options: argparse.Namespace) -> None:
    """
    Raises:
        CommandFailed: something that was given cannot be looked at.
    """
    check_observed(options.observe)
    if options.registry is not None:
        registry_entry(options.registry)
    if options.otlp is not None:
        address(options.otlp)


@asynccontextmanager
async def surroundings_of(options: argparse.Namespace) -> AsyncIterator[OutOfBand]:
    """
    Raises:
        CommandFailed: spans were asked for, and cannot be received.
    """
    entry: Mapping[str, Any] | None = options.registry and json.loads(registry_entry(options.registry))
    disk = Directories(options.observe) if options.observe else None
    async with spans_at(options.otlp) if options.otlp else _none() as spans:
        yield OutOfBand(disk, spans, entry)


@asynccontextmanager
async def _none() -> AsyncIterator[None]:
    yield None


@asynccontextmanager
async def spans_at(otlp: str | None) -> AsyncIterator[Receiver | None]:
    """A receiver there; anywhere, if that was not said: then none where what reads spans is not installed.

    Raises:
        CommandFailed: spans were asked for, and cannot be received.
    """
    host, port = address(otlp) if otlp else ("127.0.0.1", 0)
    try:
        receiver = await Receiver(host, port).__aenter__()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        hint = "is a collector running there? choose another port, and tell it to the server"
        raise CommandFailed(ExitCode.USAGE, f"cannot listen on {host}:{port}: {reason}", hint) from error
    except ImportError as error:
        if otlp:
            raise CommandFailed(ExitCode.USAGE, str(error), 'pip install "assay-mcp[otel]"') from error
        yield None
        return
    try:
        yield receiver
    finally:
        await receiver.__aexit__()

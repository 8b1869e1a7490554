"""What can be observed of a server beside its messages: directories, spans, its entry in the registry."""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assay.lab.harness.subject.disk import Directories, Unobservable
from assay.lab.harness.subject.otlp import Receiver
from assay.lab.harness.subject.out_of_band import OutOfBand

from .error import InvalidOptions
from .options import Evidence


def check_evidence(evidence: Evidence) -> None:
    """
    Raises:
        InvalidOptions: a directory or file cannot be read, or the address is not one.
    """
    check_directories(evidence.observe)
    if evidence.registry is not None:
        read_entry(evidence.registry)
    if evidence.otlp is not None:
        parse_address(evidence.otlp)


def check_directories(directories: Sequence[Path]) -> None:
    """
    Raises:
        InvalidOptions: one is missing, so that nothing could ever be observed in it.
    """
    for directory in directories:
        if not directory.is_dir():
            fix = "create it, or name the directory that the server writes to"
            raise InvalidOptions(f"--observe: {directory} is not a directory", fix)
    try:
        Directories(directories).state()
    except Unobservable as error:
        raise InvalidOptions(f"--observe: {error}") from error


def read_entry(path: Path) -> bytes:
    """Read a `server.json`.

    Raises:
        InvalidOptions: it cannot be read, or is not a JSON object.
    """
    try:
        data = path.read_bytes()
        is_object = isinstance(json.loads(data), dict)
    except OSError as error:
        raise InvalidOptions(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidOptions(f"{path} is not a server.json: {error}") from error
    if not is_object:
        raise InvalidOptions(f"{path} is not a server.json: it holds no object")
    return data


def parse_address(text: str) -> tuple[str, int]:
    """
    Raises:
        InvalidOptions: it is not `host:port`.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise InvalidOptions(f"not an address: {text!r}", "write it as 127.0.0.1:4318")
    return host.strip("[]"), int(port)


@asynccontextmanager
async def surroundings(evidence: Evidence) -> AsyncIterator[OutOfBand]:
    """
    Raises:
        InvalidOptions: spans cannot be received.
    """
    entry: dict[str, Any] | None = None
    if evidence.registry is not None:
        entry = json.loads(read_entry(evidence.registry))
    disk = Directories(evidence.observe) if evidence.observe else None
    if evidence.otlp is None:
        yield OutOfBand(disk, None, entry)
        return
    async with receive_spans(evidence.otlp) as spans:
        yield OutOfBand(disk, spans, entry)


@asynccontextmanager
async def receive_spans(otlp: str | None) -> AsyncIterator[Receiver | None]:
    """Receive spans at an address. Without one, at any free port, or not at all if the library is missing.

    Raises:
        InvalidOptions: spans cannot be received at that address.
    """
    host, port = parse_address(otlp) if otlp else ("127.0.0.1", 0)
    try:
        receiver = await Receiver(host, port).__aenter__()
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror
        fix = "is a collector running there? choose another port, and configure the server to use it"
        raise InvalidOptions(f"cannot listen on {host}:{port}: {reason}", fix) from error
    except ImportError:
        if otlp:
            raise
        yield None
        return
    try:
        yield receiver
    finally:
        await receiver.__aexit__()

"""Replay bundles on disk:

bundle/
  replay.json                    the server, seeds, environment and conversations
  replay.toml                    optional, written by the user: volatile values, as in `golden.toml`
  <transport>-<revision>.ndjson  the trace of one conversation, each line chained to the previous one

A bundle may come from anywhere. Its files are read only if they are regular, within the limits below, and
named by the manifest with a plain name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct

from assay.lab.error import CannotStore, InvalidOptions
from assay.lab.harness.golden.golden import seal_of
from assay.lab.harness.golden.rules import BadGolden, Rules, read_rules
from assay.lab.harness.trace.file import BadTrace, dump_trace, parse_trace
from assay.lab.harness.trace.recorder import MAX_FRAMES
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.trace.trace import Trace
from assay.lab.harness.transport import Transport

from .seed import MOST_VARIABLES, Seeds, is_variable

FORMAT: Final = 1
MANIFEST: Final = "replay.json"
RULES: Final = "replay.toml"
MAX_CONVERSATIONS: Final = 64
MAX_BYTES: Final = 64 * 1024 * 1024
"""Of all files of a bundle together."""
MAX_MANIFEST: Final = 256 * 1024
_FILE: Final = re.compile(r"[a-z0-9][a-z0-9.-]{0,99}\.ndjson")
_FIX: Final = "record it again with `assay replay record`"

Short = Annotated[str, Meta(max_length=500)]
Digest = Annotated[str, Meta(max_length=71)]


class Conversation(Struct, frozen=True, forbid_unknown_fields=True):
    file: Short
    transport: Short
    revision: Short
    frames: int
    seal: Digest
    """The last link of the trace's hash chain: without it, truncation would go unnoticed."""


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    assay: Short
    created: Short
    server: Short
    version: Short
    seeds: Seeds
    environment: Annotated[dict[Short, Digest], Meta(max_length=MOST_VARIABLES)]
    """The digests of variables that the recording depends on, by name."""
    normalisers: Annotated[list[Short], Meta(max_length=200)]
    conversations: Annotated[list[Conversation], Meta(min_length=1, max_length=MAX_CONVERSATIONS)]


class ReplayBundle(Struct, frozen=True):
    manifest: Manifest
    traces: Mapping[str, Trace]
    """By the name of their file."""
    rules: Rules = Rules()

    @property
    def files(self) -> dict[str, bytes]:
        """What is written, by name."""
        manifest = msgspec.json.format(msgspec.json.encode(self.manifest), indent=1) + b"\n"
        return {MANIFEST: manifest, **{name: dump_trace(trace) for name, trace in self.traces.items()}}


def write_bundle(directory: Path, bundle: ReplayBundle, *, force: bool = False) -> None:
    """
    Raises:
        CannotStore: there is something else in the directory, or it cannot be written.
    """
    files = bundle.files
    size = sum(map(len, files.values()))
    if size > MAX_BYTES:
        problem = f"the recording has {size} bytes; a bundle holds at most {MAX_BYTES}"
        raise CannotStore(problem, "record fewer revisions with --spec-version, or other requests")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        others = sorted(path.name for path in directory.iterdir() if path.name != RULES)
        if others and not (force and MANIFEST in others):
            is_bundle = MANIFEST in others
            problem = (
                f"{directory} {'holds a bundle' if is_bundle else f'is not a bundle: it has {others[0]}'}"
            )
            raise CannotStore(problem, "replace it with --force" if is_bundle else "name a new directory")
        for name in others:
            if _FILE.fullmatch(name):
                (directory / name).unlink()
        for name, data in files.items():
            (directory / name).write_bytes(data)
    except OSError as error:
        raise CannotStore(
            f"cannot write to {directory}: {error.strerror}", "name another directory"
        ) from error


def read_bundle(directory: Path) -> ReplayBundle:
    """
    Raises:
        InvalidOptions: there is none, or it is not as it was recorded.
    """
    try:
        files = {MANIFEST: read_regular(directory / MANIFEST, MAX_MANIFEST)}
        left = MAX_BYTES
        for conversation in read_manifest(files[MANIFEST]).conversations:
            data = read_regular(directory / conversation.file, left)
            files[conversation.file] = data
            left -= len(data)
        rules = read_rules(directory / RULES)
    except UnfitFile as error:
        raise InvalidOptions(f"{directory}: a file of the bundle is {error}", _FIX) from error
    except BadGolden as error:
        raise InvalidOptions(str(error), "correct the file") from error
    except OSError as error:
        raise InvalidOptions(
            f"{error.filename}: {error.strerror}", "name a bundle of `assay replay record`"
        ) from error
    return parse_bundle(files, rules)


def parse_bundle(files: Mapping[str, bytes], rules: Rules = Rules()) -> ReplayBundle:  # noqa: B008
    """A bundle from its files.

    Raises:
        InvalidOptions: it is not as it was recorded.
    """
    manifest = read_manifest(files.get(MANIFEST, b""))
    return ReplayBundle(manifest, {item.file: _trace(files, item) for item in manifest.conversations}, rules)


def read_manifest(data: bytes) -> Manifest:
    """
    Raises:
        InvalidOptions: it is not the manifest of a bundle.
    """
    try:
        manifest = msgspec.json.decode(data, type=Manifest)
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidOptions(f"{MANIFEST}: not a replay bundle: {error}", _FIX) from error
    problem = _problem(manifest)
    if problem:
        raise InvalidOptions(f"{MANIFEST}: {problem}", _FIX)
    return manifest


def _problem(manifest: Manifest) -> str:
    if manifest.format != FORMAT:
        return f"bundle format {manifest.format}; this version reads {FORMAT}"
    names = [conversation.file for conversation in manifest.conversations]
    for name in names:
        if not _FILE.fullmatch(name):
            return f"not the name of a trace in the bundle: {name[:120]!r}"
    if len(set(names)) < len(names):
        return "a conversation is listed twice"
    variables = [name for name in manifest.environment if not is_variable(name)]
    if variables:
        return f"not the name of a variable: {variables[0][:120]!r}"
    return manifest.seeds.problem()


def _trace(files: Mapping[str, bytes], conversation: Conversation) -> Trace:
    name, data = conversation.file, files.get(conversation.file, b"")
    if data.count(b"\n") > MAX_FRAMES + 1:
        raise InvalidOptions(f"{name}: more than {MAX_FRAMES} frames", _FIX)
    try:
        trace = parse_trace(data, name)
    except (BadTrace, RecursionError, UnicodeEncodeError) as error:
        raise InvalidOptions(
            f"{name}: {error}" if not isinstance(error, BadTrace) else str(error), _FIX
        ) from error
    header = trace.header
    stated = (conversation.transport, conversation.revision, conversation.frames, conversation.seal)
    if (header.transport, header.revision, len(trace.frames), seal_of(trace)) != stated:
        raise InvalidOptions(f"{name}: not the trace that was recorded with {MANIFEST}", _FIX)
    if header.transport not in set(Transport) or header.role != "server":
        raise InvalidOptions(f"{name}: not the recording of a server", _FIX)
    return trace

"""Recordings of a tap as a bundle: its requests can be sent again, and its answers be served."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from assay.lab.error import InvalidOptions
from assay.lab.harness.golden.golden import seal_of
from assay.lab.harness.trace.file import BadTrace, parse_trace
from assay.lab.harness.trace.frame import Frame, Kind
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.trace.trace import Trace
from assay.lab.tap.capture import FILE as TAP_FILE
from assay.lab.tap.capture import TapRecord
from assay.lab.tap.view import is_tapped, settled, unjudged

from .bundle import (
    FORMAT,
    MANIFEST,
    MAX_BYTES,
    MAX_CONVERSATIONS,
    MAX_MANIFEST,
    Conversation,
    Manifest,
    ReplayBundle,
    read_bundle,
)
from .seed import Seeds

LONGEST: Final = 500
SEED: Final = "tap"
"""Live traffic has no seeds; a replay needs some."""
_FIX: Final = "name a bundle of `assay replay record`, or a directory of `assay tap`"


def read_recording(directory: Path) -> ReplayBundle:
    """A bundle, or the recordings of a tap as one.

    Raises:
        InvalidOptions: there is none, or it is not as it was recorded.
    """
    if (directory / MANIFEST).exists() or not (directory / TAP_FILE).exists():
        return read_bundle(directory)
    try:
        record = msgspec.json.decode(read_regular(directory / TAP_FILE, MAX_MANIFEST), type=TapRecord)
        traces = dict(_traces(directory))
    except (UnfitFile, BadTrace, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidOptions(f"{directory}: {error}", _FIX) from error
    except OSError as error:
        raise InvalidOptions(f"{error.filename}: {error.strerror}", _FIX) from error
    if not traces:
        raise InvalidOptions(f"{directory}: no conversation can be replayed", "record one from its beginning")
    conversations = [
        Conversation(name, trace.transport, trace.header.revision, len(trace.frames), seal_of(trace))
        for name, trace in traces.items()
    ]
    manifest = Manifest(
        format=FORMAT,
        assay=record.assay[:LONGEST],
        created=record.started[:LONGEST],
        server=record.target[:LONGEST],
        version="",
        seeds=Seeds(random=SEED),
        environment={},
        normalisers=[],
        conversations=conversations,
    )
    return ReplayBundle(manifest, traces)


def _traces(directory: Path) -> Iterator[tuple[str, Trace]]:
    """Conversations from their beginning, in order, as many as a bundle holds."""
    paths = sorted(directory.glob("tap-*.ndjson"), key=lambda path: (len(path.name), path.name))
    left, count = MAX_BYTES, 0
    for path in paths:
        data = read_regular(path, left)
        trace = settled(parse_trace(data, path.name))
        is_first = is_tapped(trace) and "." not in trace.header.scenario
        if count < MAX_CONVERSATIONS and is_first and not unjudged(trace):
            left, count = left - len(data), count + 1
            yield path.name, Trace(trace.header, [_without_end(frame) for frame in trace.frames])


def _without_end(frame: Frame) -> Frame:
    """The frame, unless it is the end of a process or connection: no replay waits for that."""
    ends = frame.kind in (Kind.END, Kind.EXIT, Kind.ERRORS) and frame.stream in ("lines", "ws", "errors")
    return replace(frame, kind=Kind.MARK, raw=b"", info={}) if ends else frame

"""Bundles on disk: written as recorded, read within limits, and refused if they are not what they say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certify.replay.bundle import (
    FORMAT,
    MANIFEST,
    MAX_CONVERSATIONS,
    Conversation,
    Manifest,
    ReplayBundle,
    parse_bundle,
    read_bundle,
    write_bundle,
)
from assay.certify.replay.seed import Seeds
from assay.lab.error import CannotStore, InvalidOptions
from assay.lab.harness.golden.golden import seal_of
from assay.lab.harness.trace.file import dump_trace
from assay.lab.harness.trace.recorder import MAX_FRAMES
from assay.lab.harness.trace.trace import Trace
from tests.lab.traces import request, result, stdio_trace

NAME = "stdio-a.ndjson"


def trace_of(*turns: Any) -> Trace:
    return stdio_trace(*(turns or ((">", request(1, "ping")), ("<", result(1)))))


def bundle_of(trace: Trace | None = None, **manifest: Any) -> ReplayBundle:
    trace = trace or trace_of()
    conversation = Conversation(NAME, "stdio", trace.header.revision, len(trace.frames), seal_of(trace))
    fields: dict[str, Any] = {
        "format": FORMAT,
        "assay": "1",
        "created": "",
        "server": "x",
        "version": "1",
        "seeds": Seeds(random="a"),
        "environment": {},
        "normalisers": [],
        "conversations": [conversation],
    }
    return ReplayBundle(Manifest(**{**fields, **manifest}), {NAME: trace})


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_bundle(tmp_path / "b", bundle_of())
    bundle = read_bundle(tmp_path / "b")
    assert bundle.manifest == bundle_of().manifest
    assert bundle.traces[NAME].frames == trace_of().frames


def test_rules_of_the_user_are_read_and_stay(tmp_path: Path) -> None:
    rules = '[[volatile]]\nname = "build"\nreason = "counts up"\npointers = ["/result/build"]\n'
    (tmp_path / "replay.toml").write_text(rules)
    write_bundle(tmp_path, bundle_of())
    assert [rule.name for rule in read_bundle(tmp_path).rules.values] == ["build"]
    write_bundle(tmp_path, bundle_of(), force=True)
    assert (tmp_path / "replay.toml").read_text() == rules


def test_nothing_else_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(CannotStore, match="is not a bundle: it has mine"):
        write_bundle(tmp_path, bundle_of(), force=True)
    write_bundle(tmp_path / "b", bundle_of())
    with pytest.raises(CannotStore, match="holds a bundle"):
        write_bundle(tmp_path / "b", bundle_of())
    write_bundle(tmp_path / "b", bundle_of(), force=True)


Change = Callable[[dict[str, Any]], Any]
HOSTILE: dict[str, Change] = {
    "another format": lambda m: m.update(format=2),
    "a path": lambda m: m["conversations"][0].update(file="../x.ndjson"),
    "an absolute path": lambda m: m["conversations"][0].update(file="/etc/passwd"),
    "control characters": lambda m: m["conversations"][0].update(file="a\x1b[2J.ndjson"),
    "a conversation twice": lambda m: m["conversations"].append(m["conversations"][0]),
    "no conversation": lambda m: m.update(conversations=[]),
    "too many conversations": lambda m: m.update(conversations=m["conversations"] * (MAX_CONVERSATIONS + 1)),
    "a number for a name": lambda m: m.update(server=7),
    "an unknown field": lambda m: m.update(run="rm"),
    "a long name": lambda m: m.update(server="x" * 501),
    "a variable that is none": lambda m: m.update(environment={"A=B": "sha256:"}),
    "too many variables": lambda m: m.update(environment={f"V{n}": "" for n in range(65)}),
    "a timezone that is a file": lambda m: m["seeds"].update(timezone=":/etc/passwd"),
    "a timezone outside": lambda m: m["seeds"].update(timezone="../../etc/passwd"),
    "a locale that is a path": lambda m: m["seeds"].update(locale="/tmp/x"),
    "a hash seed that is text": lambda m: m["seeds"].update(hashSeed="random"),
    "a clock without timezone": lambda m: m["seeds"].update(clock="2026-01-01"),
    "a seed with a newline": lambda m: m["seeds"].update(random="a\nb"),
    "another number of frames": lambda m: m["conversations"][0].update(frames=1),
    "another seal": lambda m: m["conversations"][0].update(seal="0" * 64),
    "another transport": lambda m: m["conversations"][0].update(transport="http"),
    "another revision": lambda m: m["conversations"][0].update(revision="1999-01-01"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_manifest_that_lies_is_refused(name: str, tmp_path: Path) -> None:
    write_bundle(tmp_path, bundle_of())
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    HOSTILE[name](manifest)
    (tmp_path / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(InvalidOptions):
        read_bundle(tmp_path)


def emptied(path: Path) -> None:
    path.unlink()
    path.mkdir()


def linked(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


FILES: dict[str, Callable[[Path], Any]] = {
    "missing": lambda path: path.unlink(),
    "a link": linked,
    "a directory": emptied,
    "a changed byte": lambda path: path.write_bytes(path.read_bytes().replace(b"ping", b"pong")),
    "truncated": lambda path: path.write_bytes(b"\n".join(path.read_bytes().split(b"\n")[:-2]) + b"\n"),
    "not JSON": lambda path: path.write_bytes(b"\x00\xff\n"),
    "nested deeply": lambda path: path.write_bytes(b"[" * 100_000),
    "too many lines": lambda path: path.write_bytes(b"\n" * (MAX_FRAMES + 3)),
    "empty": lambda path: path.write_bytes(b""),
}


CASES = [
    (name, file)
    for name in FILES
    for file in (MANIFEST, NAME)
    if (name, file) != ("a changed byte", MANIFEST)
]


@pytest.mark.parametrize(("name", "file"), CASES)
def test_a_file_that_is_not_as_recorded_is_refused(name: str, file: str, tmp_path: Path) -> None:
    write_bundle(tmp_path, bundle_of())
    FILES[name](tmp_path / file)
    with pytest.raises(InvalidOptions):
        read_bundle(tmp_path)


def test_files_of_other_roles_are_refused() -> None:
    trace = trace_of()
    client = Trace(msgspec.structs.replace(trace.header, role="client"), trace.frames)
    with pytest.raises(InvalidOptions, match="not the recording of a server"):
        parse_bundle(bundle_of(client).files)


def test_a_bundle_has_a_limit_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.certify.replay.bundle.MAX_BYTES", 1000)
    big = bundle_of(trace_of((">", request(1, "ping", text="x" * 1000)), ("<", result(1))))
    with pytest.raises(CannotStore, match="at most 1000"):
        write_bundle(tmp_path, big)
    for name, data in big.files.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InvalidOptions, match="larger than 1000 bytes"):
        read_bundle(tmp_path)
    assert len(dump_trace(big.traces[NAME])) > 1000

"""`assay.certify` as a library: from a server to a bundle, and back to a report."""

import sys
from pathlib import Path

import pytest

import assay.certify
from assay.certify import CertifyOptions, Conclusion, VerifyOptions, certify, follow_certification, verify
from assay.certify.measurement import Measurement, MeasurementContext, NotMeasured, Provider, collection
from assay.lab import CannotJudge, Command, InvalidOptions, Served, SubjectNotStarted, Url
from assay.lab.harness.run.event import RunFinished
from assay.revisions.registry import HANDSHAKE
from assay.signing.keys import generate, write_pair

pytestmark = pytest.mark.waits

SERVER = Command(
    (sys.executable, "-m", "assay", "serve", "reference", "--profile", "intelgraph", "--no-ledger")
)
FEW = {"scenario": ("jrpc.ids",), "spec_version": (HANDSHAKE[-1].date,)}


async def test_a_bundle_is_written_and_verified(tmp_path: Path) -> None:
    write_pair(generate(), str(tmp_path / "dev"))
    options = CertifyOptions(out=tmp_path / "evidence", key=tmp_path / "dev.key", server="x/y", **FEW)  # type: ignore[arg-type]
    bundle = await certify(SERVER, options)
    assert bundle.conclusion is Conclusion.INCOMPLETE
    assert bundle.path == tmp_path / "evidence"
    assert bundle.summary.server.name == "x/y"
    assert bundle.badge == (tmp_path / "evidence" / "badge.json").read_bytes()
    report = await verify(tmp_path / "evidence", VerifyOptions(trust=[tmp_path / "dev.pub"]))
    assert report.ok and report.self_attested
    write_pair(generate(), str(tmp_path / "other"))
    assert not (await verify(tmp_path / "evidence", VerifyOptions(trust=[tmp_path / "other.pub"]))).ok


async def test_without_a_directory_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with follow_certification(SERVER, CertifyOptions(**FEW)) as live:  # type: ignore[arg-type]
        events = [event async for event in live]
    assert isinstance(events[-1], RunFinished)
    assert live.result.path is None and live.result.run.cells
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("targets", "options", "words"),
    [
        ([], CertifyOptions(), "no server to judge"),
        ([Served("everything"), Served("reference")], CertifyOptions(), "several servers of one kind"),
        (Url("ws://localhost:1/mcp"), CertifyOptions(), "is not a URL for http"),
        (SERVER, CertifyOptions(profile="other"), "unknown profile"),
        (SERVER, CertifyOptions(key=Path("x.key")), "none is written"),
        (SERVER, CertifyOptions(scenario=("nope",)), "no such scenario"),
    ],
)
def test_options_are_checked_before_anything_starts(
    targets: assay.certify.subjects.Targets, options: CertifyOptions, words: str
) -> None:
    with pytest.raises(InvalidOptions) as failure:
        follow_certification(targets, options)
    assert words in str(failure.value)


async def test_errors_are_typed(tmp_path: Path) -> None:
    with pytest.raises(SubjectNotStarted):
        await certify("no-such-command --flag", CertifyOptions(**FEW))  # type: ignore[arg-type]
    with pytest.raises(InvalidOptions):
        await verify(tmp_path, VerifyOptions(trust=[tmp_path / "none.pub"]))
    write_pair(generate(), str(tmp_path / "dev"))
    with pytest.raises(CannotJudge):
        await verify(tmp_path / "none", VerifyOptions(trust=[tmp_path / "dev.pub"]))


def test_every_public_name_can_be_imported() -> None:
    assert all(hasattr(assay.certify, name) for name in assay.certify.__all__)
    assert callable(assay.certify.verify) and callable(assay.certify.certify)


class Wrapping(Provider):
    """Starts every command through `env`, as a sandbox would start it through its launcher."""

    demands = ("CONF-TPT-01.stdio.no-network",)

    def wrap(self, words: tuple[str, ...], options: CertifyOptions) -> tuple[str, ...]:
        return ("/usr/bin/env", *words)

    async def measure(self, context: MeasurementContext) -> list[Measurement | NotMeasured]:
        return []


async def test_spans_are_received_outside_of_the_sandbox(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection, "providers", lambda: (Wrapping(),))
    write_pair(generate(), str(tmp_path / "dev"))
    chosen = {"scenario": ("jrpc.ids", "obs.*"), "spec_version": (HANDSHAKE[-1].date,), "scope": "stdio"}
    options = CertifyOptions(out=tmp_path / "evidence", key=tmp_path / "dev.key", server="x/y", **chosen)  # type: ignore[arg-type]
    bundle = await certify(SERVER, options)
    spans = next(entry for entry in bundle.summary.checks if entry.id == "CONF-OBS-05.spans")
    assert spans.pass_ is True
    [record] = bundle.run.subjects
    assert record.name.startswith(sys.executable)
    report = await verify(tmp_path / "evidence", VerifyOptions(trust=[tmp_path / "dev.pub"], rejudge=True))
    assert report.refusals == ()

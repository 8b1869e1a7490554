"""The inputs of a certification: what contradicts each other is refused before anything is judged."""

import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from assay.certify.inputs import inputs_of, with_reported_name
from assay.certify.options import CertifyOptions
from assay.lab.error import CannotJudge, InvalidOptions
from assay.lab.harness.run.run import Run, SubjectRecord
from assay.lab.harness.subject.facts import Facts
from assay.lab.target import Command, Served, Target, Url
from tests.certify.runs import run as stored_run

THIS = Path(sys.executable)


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A script, as pip installs it for a server."""
    path = tmp_path / "server"
    path.write_text(f"#!{THIS}\nprint()\n")
    path.chmod(0o755)
    return str(path)


def other_python(tmp_path: Path) -> Path:
    """The interpreter of an environment with other packages."""
    path = tmp_path / "clean" / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.symlink_to(THIS)
    return path


def described(target: Target, python: Path | None) -> Path | None:
    return inputs_of([target], CertifyOptions(python=python)).supply.python


def test_the_interpreter_is_that_of_the_server(program: str) -> None:
    assert described(Command((str(THIS), "server.py")), None) == THIS
    assert described(Command((program,)), None) == THIS
    assert described(Served("server.py"), None) == THIS
    assert described(Command(("sh", "-c", "true")), None) is None


def test_packages_of_another_environment_are_not_those_of_the_server(tmp_path: Path, program: str) -> None:
    clean = other_python(tmp_path)
    targets: list[Target] = [Command((str(THIS), "server.py")), Command((program,)), Served("server.py")]
    for target in targets:
        with pytest.raises(InvalidOptions, match="is not the server's interpreter"):
            described(target, clean)


def test_the_interpreter_of_a_server_that_runs_elsewhere_is_taken_from_the_options(tmp_path: Path) -> None:
    assert described(Url("http://localhost:1/mcp"), THIS) == THIS
    assert described(Command(("sh", "-c", "true")), THIS) == THIS
    assert described(Command((str(THIS), "x.py")), THIS.with_name("python3")) == THIS.with_name("python3")


def test_evidence_is_not_valid_for_ever() -> None:
    with pytest.raises(InvalidOptions, match="outdated"):
        inputs_of([Command(("sh",))], CertifyOptions(lifetime=timedelta(days=100_000)))


def judged(**reported: dict[str, Any]) -> Run:
    records = [
        SubjectRecord("it", transport, [Facts("2025-11-25", server=server)])
        for transport, server in reported.items()
    ]
    return msgspec.structs.replace(stored_run(), subjects=records)


def test_a_good_server_on_one_transport_does_not_stand_in_for_another() -> None:
    inputs = inputs_of([Command(("sh",))], CertifyOptions(server="s", server_version="1"))
    good, other = {"name": "good", "version": "1"}, {"name": "good", "version": "2"}
    with pytest.raises(CannotJudge, match="'good 1', 'good 2'"):
        with_reported_name(inputs, judged(stdio=good, http=other))
    assert with_reported_name(inputs, judged(stdio=good, http=good)).server == "s"
    assert with_reported_name(inputs, judged(stdio=good, http={})).server == "s"

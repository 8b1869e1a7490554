"""The inputs of a certification: what contradicts each other is refused before anything is judged."""

import sys
from pathlib import Path

import pytest

from assay.certify.inputs import inputs_of
from assay.certify.options import CertifyOptions
from assay.lab.error import InvalidOptions
from assay.lab.target import Command, Served, Target, Url

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

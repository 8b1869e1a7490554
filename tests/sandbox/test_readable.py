"""Which files a server can read: its own, and never a directory that holds those of others."""

from pathlib import Path

import pytest

from assay.sandbox.readable import is_broad, readable


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "home"
    (directory / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(directory))
    return directory


def is_shown(path: Path, words: list[str], cwd: Path) -> bool:
    """Whether the path can be read: it, or a directory above it, is in the list."""
    return not {str(path), *map(str, path.parents)}.isdisjoint(readable(words, cwd))


def test_the_working_directory_is_shown_unless_it_is_the_home(home: Path) -> None:
    project = home / "project"
    project.mkdir()

    assert is_shown(project, ["cat"], project)
    assert not is_shown(home / ".ssh", ["cat"], home)
    assert not is_shown(home / ".ssh", ["cat"], project)


def test_a_script_in_the_home_is_shown_alone(home: Path) -> None:
    script = home / "server.py"
    script.touch()

    assert is_shown(script, ["cat", "server.py"], home)
    assert is_shown(script, ["cat", "server.py:app"], home)
    assert not is_shown(home / ".ssh", ["cat", "server.py"], home)


def test_a_script_in_a_project_is_shown_with_its_neighbours(home: Path) -> None:
    project = home / "project"
    project.mkdir()
    (project / "server.py").touch()

    assert is_shown(project / "data.json", ["cat", f"--file={project}/server.py"], Path("/"))


@pytest.mark.parametrize("directory", ["/", "/etc", "/root", "/tmp", "/home"])
def test_a_directory_of_many_programs_is_never_shown_whole(directory: str) -> None:
    assert is_broad(Path(directory))
    assert directory not in readable(["cat", directory], Path(directory))


def test_an_environment_is_shown_with_its_base_and_its_path_files(tmp_path: Path, home: Path) -> None:
    base, environment, source = tmp_path / "base", home / ".venv", tmp_path / "source"
    for directory in (
        base / "bin",
        environment / "bin",
        environment / "lib/python3.11/site-packages",
        source,
    ):
        directory.mkdir(parents=True)
    (base / "bin/python3").touch(mode=0o755)
    (environment / "bin/python").symlink_to(base / "bin/python3")
    (environment / "pyvenv.cfg").write_text(f"home = {base}/bin\n")
    (environment / "lib/python3.11/site-packages/it.pth").write_text(f"import x\n{source}\n{home}\n")

    paths = readable([str(environment / "bin/python"), "-m", "server"], Path("/"))

    assert {str(base), str(environment), str(source)} <= {*paths}
    assert str(home) not in paths


def test_the_interpreter_of_a_script_is_shown(tmp_path: Path, home: Path) -> None:
    runtime = home / "runtime/bin"
    runtime.mkdir(parents=True)
    (runtime / "node").touch(mode=0o755)
    script = tmp_path / "tool/bin/server"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{runtime}/node\n")
    script.chmod(0o755)

    assert is_shown(runtime / "node", [str(script)], Path("/"))


def test_node_modules_are_shown_from_the_outermost(home: Path) -> None:
    package = home / "app/node_modules/server/node_modules/inner"
    package.mkdir(parents=True)
    (package / "index.js").touch()

    words = ["cat", str(package / "index.js")]

    assert is_shown(home / "app/node_modules/other", words, Path("/"))
    assert not is_shown(home / "app/secret", words, Path("/"))


def test_no_path_lies_below_another() -> None:
    paths = [Path(path) for path in readable(["cat"], Path("/usr/share"))]

    assert Path("/usr") in paths
    assert Path("/usr/share") not in paths


def test_an_argument_may_be_any_text() -> None:
    assert readable(["cat", "-c", "x" * 5000, "nul\0byte", "--a=", ""], Path("/")) == readable(
        ["cat"], Path("/")
    )

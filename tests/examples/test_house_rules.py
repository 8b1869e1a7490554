"""The example of a suite from outside is listed, run and proved by the usual commands, once installed."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab import outside, suites
from tests.meta.tree import ROOT

pytestmark = pytest.mark.usefixtures("warm_servers")

EXAMPLE = ROOT / "examples" / "house-rules"
Output = pytest.CaptureFixture[str]


def install(site: Path, entries: dict[str, str], name: str = "house-rules") -> None:
    """What an installer writes beside a package: its name and its entry points."""
    home = site / f"{name.replace('-', '_')}-1.0.0.dist-info"
    home.mkdir(parents=True)
    (home / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n", "utf-8")
    lines = [f"{key} = {value}" for key, value in entries.items()]
    (home / "entry_points.txt").write_text("\n".join(["[assay.suites]", *lines]) + "\n", "utf-8")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    (tmp_path / "site").mkdir()
    monkeypatch.chdir(tmp_path)
    yield tmp_path / "site"
    for cached in (outside.load_outside, suites.suite_named):
        cached.cache_clear()


@pytest.fixture
def example(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    install(site, project["entry-points"]["assay.suites"])
    monkeypatch.syspath_prepend(str(EXAMPLE / "src"))


@pytest.mark.usefixtures("example")
def test_suite_of_an_installed_package_is_listed(capsys: Output) -> None:
    assert main(["list", "--suites"]) == 0
    assert "house" in [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert main(["list", "--suite", "house"]) == 0
    assert "descriptions.tools List the tools" in capsys.readouterr().out
    assert main(["explain", "HOUSE-01"]) == 0
    assert "saboteur descriptions.undescribed" in capsys.readouterr().out


@pytest.mark.usefixtures("example")
def test_suite_of_an_installed_package_judges_a_server(tmp_path: Path, capsys: Output) -> None:
    server = tmp_path / "server.py"
    server.write_text(
        "from assay import Server\n\nserver = Server('plain', version='1')\n\n"
        "@server.tool\ndef add(a: int, b: int) -> int:\n    return a + b\n",
        "utf-8",
    )
    assert main(["check", str(server), "--suite", "house", "--spec-version", "2025-11-25"]) == 1
    text = capsys.readouterr().out
    assert "FAILURE descriptions.tools: A tool has no description" in text
    assert "https://example.com/house-rules#tools" in text
    assert main(["judge"]) == 1
    assert "HOUSE-01" in capsys.readouterr().out


@pytest.mark.usefixtures("example")
def test_saboteurs_of_an_installed_package_are_caught(capsys: Output) -> None:
    assert main(["prove", "--suite", "house", "--quick"]) == 0
    assert "2 saboteurs, 2 of 2 trials caught: 100%" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ({"all": "x"}, "a suite cannot be named 'all'"),
        ({"Bad Name": "x"}, "a suite cannot be named 'Bad Name'"),
        ({"lost": "no_such_package"}, "No module named 'no_such_package'"),
        ({"broken": "broken_suite"}, "ZeroDivisionError"),
        ({"twin": "assay.lab.everything"}, "as the suite everything"),
    ],
)
def test_unusable_suite_is_refused_with_its_package(
    site: Path, capsys: Output, entries: dict[str, str], problem: str
) -> None:
    (site / "broken_suite.py").write_text("1 / 0\n", "utf-8")
    install(site, entries)
    assert main(["list", "--suite", next(iter(entries))]) == 2
    text = capsys.readouterr().err
    assert problem in text
    assert "repair that package, or uninstall it" in text


def test_two_packages_with_the_same_suite_are_refused(site: Path, capsys: Output) -> None:
    install(site, {"house": "one"}, "one")
    install(site, {"house": "two"}, "two")
    assert main(["list", "--suite", "house"]) == 2
    assert "both bring a suite house" in capsys.readouterr().err


def test_built_in_suites_work_beside_a_broken_package(site: Path, capsys: Output) -> None:
    install(site, {"lost": "no_such_package", "everything": "another"})
    assert main(["list", "--suite", "everything"]) == 0
    assert "ping" in capsys.readouterr().out
    assert main(["explain", "TL-19"]) == 2
    assert "repair that package" in capsys.readouterr().err

"""Command lines of npx and uvx: which packages, which program; nothing that cannot be followed is guessed."""

import pytest

from assay.sandbox.error import CannotInstall
from assay.sandbox.installation import NPX, UVX, Request, node_command, parse, requirement, runner_of


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("npx -y some-server --flag", ("npx", ("-y", "some-server", "--flag"))),
        ("/usr/bin/npx some-server", ("npx", ("some-server",))),
        ("npm exec some-server", ("npx", ("some-server",))),
        ("uvx some-server", ("uvx", ("some-server",))),
        ("uv tool run some-server", ("uvx", ("some-server",))),
        ("uv run server.py", None),
        ("npm start", None),
        ("python server.py", None),
    ],
)
def test_package_runners_are_recognised(line: str, expected: object) -> None:
    assert runner_of(line.split()) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("some-server", Request(("some-server",), None, ())),
        ("-y @scope/server@1.2 --root /data", Request(("@scope/server@1.2",), None, ("--root", "/data"))),
        ("--yes -p one -p two program x", Request(("one", "two"), "program", ("x",))),
        ("--package=one program", Request(("one",), "program", ())),
        ("-y -- some-server -y", Request(("some-server",), None, ("-y",))),
    ],
)
def test_a_line_of_npx_is_read(line: str, expected: Request) -> None:
    assert parse(line.split(), NPX) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("some-server --flag", Request(("some-server",), None, ("--flag",))),
        ("--from package[cli] program", Request(("package[cli]",), "program", ())),
        (
            "--python 3.12 --with extra --from package program",
            Request(("extra", "package"), "program", (), "3.12"),
        ),
    ],
)
def test_a_line_of_uvx_is_read(line: str, expected: Request) -> None:
    assert parse(line.split(), UVX) == expected


@pytest.mark.parametrize("line", ["", "-y", "--call script", "-p", "--workspace=a server"])
def test_a_line_that_cannot_be_followed_is_refused(line: str) -> None:
    with pytest.raises(CannotInstall):
        parse(line.split(), NPX)


@pytest.mark.parametrize(
    ("manifest", "program"),
    [
        ({"bin": "index.js"}, "server"),
        ({"bin": {"other-name": "index.js"}}, "other-name"),
        ({"bin": {"server": "a.js", "tool": "b.js"}}, "server"),
    ],
)
def test_the_program_of_a_package_is_the_one_that_npx_runs(manifest: dict[str, object], program: str) -> None:
    assert node_command("@scope/server", manifest) == program


@pytest.mark.parametrize("manifest", [{}, {"bin": {}}, {"bin": {"a": "a.js", "b": "b.js"}}, {"bin": 1}])
def test_a_package_without_a_clear_program_is_refused(manifest: dict[str, object]) -> None:
    with pytest.raises(CannotInstall):
        node_command("server", manifest)


@pytest.mark.parametrize(
    ("package", "expected"),
    [
        ("server", "server"),
        ("server@1.2", "server==1.2"),
        ("server@latest", "server"),
        ("server[cli]>=2", "server[cli]>=2"),
        ("server @ https://example.com/x.whl", "server @ https://example.com/x.whl"),
    ],
)
def test_versions_of_uvx_become_requirements(package: str, expected: str) -> None:
    assert requirement(package) == expected

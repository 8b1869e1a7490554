"""The file of a matrix: what it may say, and how mistakes are reported."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.lab.error import InvalidOptions
from assay.lab.matrix.definition import MOST_STEPS, read_matrix
from assay.lab.matrix.key import Keys
from assay.lab.matrix.pair import Pair

STEPS = '[steps]\ntools = { do = "list_tools" }\n'
CLIENT = '[clients.a]\nhttp = ["a", "{url}"]\n'
SERVER = '[servers.b]\nstdio = ["b"]\nhttp = ["b", "{port}"]\nurl = "http://127.0.0.1:{port}/mcp"\n'
GOOD = STEPS + CLIENT + SERVER
PAIR = Pair("a", "b", "http", "2026-07-28")


def written(path: Path, text: str) -> Path:
    file = path / "matrix.toml"
    file.write_text(text, "utf-8")
    return file


def test_defaults_are_both_transports_and_the_newest_revision(tmp_path: Path) -> None:
    matrix = read_matrix(written(tmp_path, GOOD))
    assert [*matrix.pairs()] == [
        Pair("a", "b", "stdio", "2026-07-28"),
        Pair("a", "b", "http", "2026-07-28"),
    ]
    assert matrix.clients["a"].lacks(Pair("a", "b", "stdio", "2026-07-28")) == "stdio"
    assert matrix.clients["a"].lacks(PAIR) == ""


def test_placeholders_are_filled_and_others_stay(tmp_path: Path) -> None:
    text = 'variables = { home = "{here}/x", name = "{home}/y" }\n' + GOOD
    matrix = read_matrix(written(tmp_path, text))
    assert matrix.filled('{name} {port} {"a": 1} {odd}', port="7") == f'{tmp_path}/x/y 7 {{"a": 1}} {{odd}}'


def test_steps_are_those_that_both_have_at_the_revision(tmp_path: Path) -> None:
    steps = (
        '[steps]\ntools = { do = "list_tools" }\nping = { do = "ping", revisions = ["2025-11-25"] }\n'
        'prompts = { do = "list_prompts" }\n'
    )
    server = SERVER + 'lacks_steps = { prompts = "it has none" }\n'
    matrix = read_matrix(written(tmp_path, steps + CLIENT + server))
    assert [step.name for step in matrix.steps_of(PAIR)] == ["tools"]
    assert matrix.lacking_steps(PAIR) == {"prompts": "it has none"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a = [", "not TOML"),
        (STEPS + CLIENT, "missing required field `servers`"),
        (GOOD + "[extra]\n", "unknown field `extra`"),
        (GOOD.replace("clients.a", "clients.A"), "a name has up to 40"),
        (GOOD.replace("clients.a", 'clients."../x"'), "a name has up to 40"),
        ('transports = ["ws"]\n' + GOOD, "unknown transport: ws; one of stdio, http"),
        ('revisions = ["2020-01-01"]\n' + GOOD, "unknown revision: 2020-01-01"),
        ("timeout = 0\n" + GOOD, "timeout = 0"),
        (GOOD.replace("list_tools", "dance"), "steps.tools: do = 'dance' is unknown"),
        (GOOD + 'lacks_steps = { dance = "no" }\n', "unknown step: dance"),
        (STEPS + '[clients.a]\ntitle = "A"\n' + SERVER, "it needs a command"),
        (STEPS + '[clients.a]\nstdio = ["a"]\n' + SERVER, "the stdio command needs {server}"),
        (GOOD.replace('url = "http://127.0.0.1:{port}/mcp"\n', ""), "on HTTP it needs its address"),
        (
            "[steps]\n"
            + "".join(f's{n} = {{ do = "ping" }}\n' for n in range(MOST_STEPS + 1))
            + CLIENT
            + SERVER,
            f"at most {MOST_STEPS}",
        ),
        ("clients = {}\n" + STEPS + SERVER, "0 clients"),
        ("#" * 300_000, "larger than 262144 bytes"),
    ],
)
def test_mistakes_name_their_place(text: str, problem: str, tmp_path: Path) -> None:
    file = written(tmp_path, text)
    with pytest.raises(InvalidOptions) as caught:
        read_matrix(file)
    assert problem in caught.value.problem
    assert "docs/matrix.md" in caught.value.fix


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptions, match="No such file"):
        read_matrix(tmp_path / "gone.toml")


def test_key_changes_with_the_files_the_steps_and_the_command(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    source = tmp_path / "src" / "code.py"
    source.write_text("1")

    def key(text: str) -> str:
        return Keys(read_matrix(written(tmp_path, text))).key(PAIR)

    text = STEPS + CLIENT + 'files = ["src/**/*.py"]\n' + SERVER
    first = key(text)
    assert key(text) == first
    assert key('title = "other"\n' + text) == first
    assert key(text.replace('"a", ', '"a", "-v", ')) != first
    assert key(text.replace("list_tools", "list_prompts")) != first
    source.write_text("2")
    assert key(text) != first

"""What the commands print, in which exit code they end, and what they say about mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import main
from assay.cli.output.content import save
from assay.model.content import Image
from tests.cli.calls.calculator import in_thread, on_http
from tests.cli.calls.hostile import SERVER
from tests.client.scripted import HttpRequest, Writer, http_response, raw_http
from tests.driving.process import environment
from tests.meta.test_imports import loaded_by

Output = pytest.CaptureFixture[str]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with in_thread(on_http) as url:
        yield url


@pytest.fixture
def run(url: str, capsys: Output) -> Run:
    """Run a command on the server; returns exit code, standard output and standard error."""

    def call(command: str, *words: str) -> tuple[int, str, str]:
        code = main([command, url, *words])
        return code, *capsys.readouterr()

    return call


def test_tools_are_listed_in_the_form_in_which_they_are_called(run: Run) -> None:
    code, out, err = run("tools")
    assert (code, err) == (0, "")
    assert "add a=<integer> [b=<integer>]\n    Add two numbers.\nsearch query=<string>" in out
    assert "[mode=<fast | slow>]" in out
    assert "Further lines" not in out


def test_one_tool_is_shown_with_all_that_is_known(run: Run) -> None:
    code, out, _ = run("tools", "add")
    assert code == 0
    assert "Further lines" in out
    assert "  b: integer, optional, default 2\n" in out
    assert "result:" in out


LISTS = [
    (["tools"], "tools", "name", "add"),
    (["tools", "search"], "tools", "name", "search"),
    (["resources"], "resources", "uri", "text://greeting"),
    (["templates"], "resourceTemplates", "uriTemplate", "note://{number}"),
    (["prompts"], "prompts", "name", "greet"),
]


@pytest.mark.parametrize(("words", "field", "key", "value"), LISTS, ids=[" ".join(row[0]) for row in LISTS])
def test_lists_are_json_objects_of_the_protocol(
    run: Run, words: list[str], field: str, key: str, value: str
) -> None:
    code, out, err = run(*words, "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert list(document) == [field]
    assert document[field][0][key] == value


@pytest.mark.parametrize(
    ("words", "out"),
    [
        ("resources", "data://logo  (image/png)\n    logo\n"),
        ("templates", "note://{number}\n    note\n"),
        ("prompts", "greet name=… [tone=…]\n    Greet someone.\n"),
        ("call add a=1", "3\n"),
        ("call add a=1 b=-5", "-4\n"),
        ('call add {"a":1,"b":4}', "5\n"),
        ('call add {"a":1} b=6', "7\n"),
        ("call search query=1 tags=x tags=y mode=slow", '["1","x","y","slow"]\n'),
        ("read note://7", "note 7\n"),
        ("read text://greeting", "hello ␛[31mworld\n"),
        ("read data://logo", "[data://logo, image/png, 4 bytes; --output FILE saves it]\n"),
        ("prompt greet name=Ada", "user: Greet Ada, warm\n"),
    ],
)
def test_results_are_readable(run: Run, words: str, out: str) -> None:
    code, printed, err = run(*words.split())
    assert (code, err) == (0, "")
    assert out in printed


@pytest.mark.parametrize(
    ("words", "document"),
    [
        (
            "call add a=1",
            {"content": [{"type": "text", "text": "3"}], "structuredContent": 3, "isError": False},
        ),
        ("call explode", {"content": [{"type": "text", "text": "it broke \x1b[31mbadly"}], "isError": True}),
        ("read note://7", {"contents": [{"uri": "note://7", "text": "note 7", "mimeType": "text/plain"}]}),
        (
            "read data://logo",
            {"contents": [{"uri": "data://logo", "blob": "iVBORw==", "mimeType": "image/png"}]},
        ),
        (
            "prompt greet name=Ada",
            {
                "messages": [{"role": "user", "content": {"type": "text", "text": "Greet Ada, warm"}}],
            },
        ),
    ],
)
def test_results_are_json_of_the_protocol(run: Run, words: str, document: dict[str, Any]) -> None:
    code, out, err = run(*words.split(), "--json")
    assert code == (ExitCode.DOES_NOT_CONFORM if document.get("isError") else ExitCode.OK)
    assert err == ""
    printed = json.loads(out)
    printed.pop("_meta", None)
    assert printed == document
    assert "\x1b" not in out


def test_json_in_and_json_out_go_together(run: Run) -> None:
    code, out, _ = run("call", "add", "--json", '{"a": 40, "b": 2}')
    assert (code, json.loads(out)["structuredContent"]) == (0, 42)


@pytest.mark.parametrize(
    ("words", "code", "problem", "fix"),
    [
        ("call ad a=1", 2, "the server has no tool ad", "did you mean add?"),
        ("call zzz", 2, "the server has no tool zzz", "it has: add, search"),
        ("tools serach", 2, "the server has no tool serach", "did you mean search?"),
        ("prompt gret", 2, "the server has no prompt gret", "did you mean greet?"),
        ("call add", 2, "add needs an argument more: a", "add a=<integer>"),
        ("call add a=x", 2, "argument a must be integer, not 'x'", "`assay tools TARGET add`"),
        ("call add a=1 a=2", 2, "argument a is given twice", "only arrays"),
        ("call add a=1 bb=2", 2, "add has no argument bb", "did you mean b?"),
        ("call add a", 2, "not an argument: a", "key=value"),
        ("call add a=@missing.txt", 2, "argument a: cannot read missing.txt", "begins with @"),
        ("call search query=x mode=medium", 2, "argument mode must be one of: fast | slow", "search"),
        ("prompt greet nam=x", 2, "greet has no argument nam", "did you mean name?"),
        ("prompt greet", 2, "greet needs an argument more: name", "name=<string>"),
        ("call", 2, "no tool given", "TARGET TOOL"),
        ("read", 2, "no URI given", "TARGET URI"),
        ("ping extra", 2, "unexpected argument: extra", "quoted"),
        ("ping --revision 1999-01-01", 2, "unknown protocol revision", ""),
        ("call add a=1 --answer [1]", 2, "--answer is not a JSON object", "field"),
        ("ping --header x", 2, "a --header has no name", "Name: value"),
        ("call explode", 1, "tool explode failed: it broke ␛[31mbadly", ""),
        ("call refuse", 1, "not today (-1)", ""),
        ("read note://x", 1, "invalid resource URI", ""),
        ("call wait_for_ever --timeout 0.2", 3, "no answer in 0.2 s", "--timeout"),
        ("call picture -o /no/such/place/x.png", 2, "cannot write /no/such/place/x.png", "another file"),
    ],
)
def test_mistakes_and_failures_have_a_code_and_a_cause(
    run: Run, words: str, code: int, problem: str, fix: str
) -> None:
    result, out, err = run(*words.split())
    assert (result, out) == (code, "")
    assert err.startswith("assay: error: ") and problem in err and fix in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["tools"], 2, "no server to call"),
        (["tools", "localhost:3000/mcp"], 2, "write http://localhost:3000/mcp"),
        (["tools", "missing.py"], 2, "no such file: missing.py"),
        (["tools", "http://127.0.0.1:1/mcp"], 4, "connection refused"),
        (["call", "http://127.0.0.1:1/mcp", "x"], 4, "`assay doctor`, with the same arguments"),
        (["tools", "--token", "t", "--", "python"], 2, "--token is for a server at a URL"),
        (["tools", "--", "no-such-program"], 4, "no-such-program was not found"),
        (["tools", "--", sys.executable, "-c", "raise SystemExit('oops')"], 4, "  stderr: oops"),
        (["tools", "http://127.0.0.1:1/mcp", "--ca", "missing.pem"], 2, "cannot use the certificates"),
        (["tools", "http://127.0.0.1:1/mcp", "--client-key", "x.pem"], 2, "without --client-cert"),
        (["tools", "ftp://x/mcp"], 2, "ftp"),
    ],
)
def test_a_server_that_is_not_there_is_explained(
    words: list[str], code: int, problem: str, capsys: Output, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == code
    captured = capsys.readouterr()
    assert captured.out == ""
    assert problem in captured.err


def test_media_are_saved_to_numbered_files(run: Run, tmp_path: Path) -> None:
    code, out, err = run("call", "picture", "-o", str(tmp_path / "plot.png"))
    assert (code, out) == (0, "")
    assert (tmp_path / "plot.png").read_bytes().endswith(b"first")
    assert (tmp_path / "plot-2.png").read_bytes().endswith(b"second")
    assert "written: " in err


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_server_cannot_choose_which_files_are_overwritten(run: Run, tmp_path: Path, kind: str) -> None:
    """How many files there are is decided by the server, so only the one with the user's name is replaced."""
    named, further, target = tmp_path / "plot.png", tmp_path / "plot-2.png", tmp_path / "target"
    named.write_bytes(b"old")
    further.write_bytes(b"precious") if kind == "file" else further.symlink_to(target)
    code, _, err = run("call", "picture", "-o", str(named))
    assert code == 2 and "plot-2.png exists: nothing was written" in err and "delete it" in err
    assert named.read_bytes() == b"old" and not target.exists()
    further.unlink()
    assert run("call", "picture", "-o", str(named))[0] == 0
    assert named.read_bytes().endswith(b"first")


def test_a_result_that_would_become_too_many_files_is_refused(tmp_path: Path) -> None:
    parts = [Image(b"x", "image/png")] * 101
    with pytest.raises(CommandFailed, match="101 files, more than 100"):
        save(parts, tmp_path / "plot.png")
    assert list(tmp_path.iterdir()) == []


def test_a_resource_is_written_to_a_pipe_as_it_is(
    url: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["read", url, "text://greeting", "-o", "-"]) == 0
    assert capfdbinary.readouterr().out == b"hello \x1b[31mworld"


def test_arguments_come_from_files_and_standard_input(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "query.txt").write_text("from a file")
    (tmp_path / "all.json").write_text('{"query": "all"}')
    monkeypatch.chdir(tmp_path)
    assert run("call", "search", "query=@query.txt")[1] == '["from a file","fast"]\n'
    assert run("call", "search", "@all.json", 'tags:=["t"]')[1] == '["all","t","fast"]\n'
    with (tmp_path / "all.json").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert run("call", "search", "-")[1] == '["all","fast"]\n'


def test_progress_logs_and_roots(run: Run, tmp_path: Path) -> None:
    code, out, err = run("call", "work", "--progress", "--log", "info", "--root", str(tmp_path))
    assert (code, out) == (0, f"{tmp_path.as_uri()}\n")
    assert "progress 1 of 2: half" in err
    assert "nearly done" in err


def test_ping_shows_the_server_and_the_times(run: Run) -> None:
    code, out, _ = run("ping", "--count", "2")
    assert code == 0
    assert out.startswith("calculator 1.2, protocol ") and len(out.splitlines()) == 3
    document = json.loads(run("ping", "--count", "2", "--json")[1])
    assert document["server"]["name"] == "calculator"
    assert len(document["pingMs"]) == 2


def test_the_token_is_sent_and_may_come_from_the_environment(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(request: HttpRequest, writer: Writer) -> None:
        writer.write(http_response("401 Unauthorized"))

    with in_thread(lambda: raw_http(refuse)) as raw:
        assert main(["ping", raw.url, "--token", "secret"]) == ExitCode.NOT_STARTED
        monkeypatch.setenv("ASSAY_TOKEN", "hidden")
        assert main(["ping", raw.url]) == ExitCode.NOT_STARTED
        assert main(["ping", raw.url, "--header", "Authorization: x"]) == ExitCode.USAGE
    tokens = [request.headers["authorization"] for request in raw.requests]
    assert (tokens[0], tokens[-1]) == ("Bearer secret", "Bearer hidden")
    assert "secret" not in capsys.readouterr().err


def test_a_python_file_is_served_in_its_own_process(tmp_path: Path, capsys: Output) -> None:
    """What it prints cannot mix with the result."""
    file = tmp_path / "server.py"
    file.write_text(
        "from assay import Server\nserver = Server('own')\n"
        "@server.tool\nasync def hello() -> str:\n    print('noise')\n    return 'hello'\n"
    )
    assert main(["call", str(file), "hello"]) == 0
    assert capsys.readouterr().out == "hello\n"


def test_a_configuration_names_several_servers(url: str, tmp_path: Path, capsys: Output) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps({"mcpServers": {"one": {"url": url}, "two": {"url": url}}}))
    assert main(["call", str(file), "two_add", "a=1"]) == 0
    assert capsys.readouterr().out == "3\n"
    assert main(["doctor", str(file)]) == main(["tools", str(file), "--token", "x"]) == ExitCode.USAGE
    file.write_text("{}")
    assert main(["tools", str(file)]) == ExitCode.USAGE


def test_a_closed_pipe_ends_quietly(url: str) -> None:
    command = [sys.executable, "-m", "assay", "tools", url, "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(20) == 0


def test_listing_tools_loads_neither_the_lab_nor_a_server_nor_heavy_libraries() -> None:
    code = """
import sys
from assay.cli.main import main
from assay.cli.output.content import save
from assay.model.content import Image
import assay.cli.calls.session
arguments, sys.argv = sys.argv, ["assay"]
main(["tools", "--", sys.executable, "-c", "from assay import Server; Server('plain').run()"])
sys.argv = arguments"""
    ours = (
        "assay.lab.harness",
        "assay.lab.options",
        "assay.lab.target",
        "assay.server.server",
        "assay.bundled",
    )
    others = (
        "assay.certify",
        "httptools",
        "httpx2",
        "jsonschema_rs",
        "pydantic",
        "rich",
        "assay.client.doctor",
    )
    assert loaded_by(code, (*ours, *others)) == []


@pytest.mark.parametrize("words", ["tools", "tools x", "resources", "templates", "prompts", "ping", "doctor"])
def test_a_server_cannot_write_a_line_as_the_command(words: str, capsys: Output) -> None:
    """Only descriptions and results have lines; descriptions are indented."""
    main([*words.split(), "--", sys.executable, "-c", SERVER, '"good\\nFORGED"'])
    captured = capsys.readouterr()
    assert captured.out and "FORGED" in captured.out
    assert all(not line.startswith("FORGED") for line in (captured.out + captured.err).splitlines())


def test_a_configuration_that_does_not_exist(capsys: Output) -> None:
    assert main(["tools", "missing.json"]) == 2
    assert "no such file: missing.json" in capsys.readouterr().err

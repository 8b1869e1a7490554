"""`assay server` and protected servers: where tokens come from, and that none of them is kept."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.revisions.registry import HANDSHAKE
from tests.cli.test_authority import authority
from tests.cli.test_server import free_port
from tests.driving.warm_python import warm_python

Output = pytest.CaptureFixture[str]
URL = "http://127.0.0.1:9/mcp"
JWT = "eyJ"
"""How every token of the authority begins: a JSON object in base64."""
PROTECTED = """
from assay import Server

server = Server("notes")


@server.tool(scopes=["write"], annotations={"readOnlyHint": True})
def peek() -> str:
    \"\"\"Read a note.\"\"\"
    return "a note"
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASSAY_CLIENT_SECRET", raising=False)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--url", URL, "--bearer-other", "theirs-only"], "bad tokens prove nothing without a good one"),
        (["--url", URL, "--bearer", "one", "--authority", URL], "tokens of your own, not both"),
        (["--url", URL, "--bearer", "two words"], "no spaces or line breaks"),
        (["--url", URL, "--bearer", "one", "--bearer-weak", "a\nb"], "no spaces or line breaks"),
        (["--url", URL, "--audience", URL], "--audience is about tokens from --authority"),
        (["--url", URL, "--token-scope", "read"], "--token-scope is about tokens from --authority"),
        (
            ["--url", URL, "--authority", URL, "--client-id", "robot"],
            "in the environment: ASSAY_CLIENT_SECRET",
        ),
        (["reference", "--authority", URL], "sent to a URL, and there is none"),
        (["--url", URL, "--authority", URL, "--suite", "fuzz"], "--authority is not for --suite fuzz"),
    ],
)
def test_options_that_make_no_sense_are_told(options: list[str], problem: str, capsys: Output) -> None:
    assert main(["server", *options]) == 2
    out, err = capsys.readouterr()
    assert out == "" and problem in err


def test_an_authority_that_is_not_there_proves_nothing(capsys: Output) -> None:
    place = f"http://127.0.0.1:{free_port()}"
    assert main(["server", "--url", f"{place}/mcp", "--authority", place]) == 3
    err = capsys.readouterr().err
    assert f"request to {place.removeprefix('http://')} failed" in err and "is --authority right?" in err


@pytest.mark.timeout(120)
def test_a_protected_server_is_judged_with_tokens_that_nobody_keeps(tmp_path: Path, capsys: Output) -> None:
    served = tmp_path / "notes.py"
    served.write_text(PROTECTED, "utf-8")
    url = f"http://127.0.0.1:{free_port()}/mcp"
    with authority("--dev-mint") as running:
        auth = f"issuer={running.issuer},audience={url}"
        command = (
            f"{warm_python()} -m assay serve {served} --transport http --port {url[17:-4]} --auth {auth}"
        )
        code = main(
            [
                *("server", "--url", url, "--command", command, "--authority", running.issuer),
                *("--token-scope", "write", "--spec-version", HANDSHAKE[-1].date),
                *("--scenario", "authorization.*", "--scenario", "security.*"),
            ]
        )
    out, err = capsys.readouterr()
    assert (code, "conforms: 12 passed" in out) == (0, True), out + err
    files = [path.read_text("utf-8") for path in tmp_path.glob("results/**/*") if path.is_file()]
    assert len(files) > 12
    assert not any(JWT in text for text in (*files, out, err))
    assert any("access_token=[redacted]" in text for text in files)

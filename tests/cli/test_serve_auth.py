"""`assay serve --auth`: what it takes, what it refuses, and the whole way with an authorization server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from assay.auth import Auth
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.cli.main import main
from assay.cli.options.auth import SECRET, make_auth
from tests.auth.issuer import ec_key, public_jwk
from tests.driving.warm_python import warm_python

Output = pytest.CaptureFixture[str]

ISSUER, AUDIENCE = "https://as.example", "http://localhost:3000/mcp"
NEEDED = f"issuer={ISSUER},audience={AUDIENCE}"
BOTH = {"accept": "application/json, text/event-stream"}
METADATA = {"jsonrpc": "2.0", "id": 1, "method": "metadata/get"}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not understood: ''"),
        ("issuer", "not understood: 'issuer'"),
        ("issuer=https://a.example", "audience is missing"),
        (f"audience={AUDIENCE}", "issuer is missing"),
        (f"{NEEDED},colour=red", "not understood: 'colour='"),
        (f"{NEEDED},issuer={ISSUER}", "not understood: 'issuer='"),
        (f"{NEEDED},more", "not understood: 'more'"),
        (f"issuer=http://a.example,audience={AUDIENCE}", "issuer must be https"),
        (f"issuer={ISSUER},audience=my-api", "resource"),
        (f"{NEEDED},jwks=nowhere.json", "nowhere.json cannot be read"),
        (f'{NEEDED},scopes=a"', "not a scope"),
        (f"{NEEDED},dpop=always", "dpop must be"),
        (f"{NEEDED},introspection=https://a.example/i,client_id=me", SECRET),
        (f"{NEEDED},client_id=me", "client_id is for introspection"),
    ],
)
def test_a_mistake_is_one_line_and_a_hint(text: str, problem: str, capsys: Output) -> None:
    assert main(["serve", "everything", "--transport", "http", "--auth", text]) == ExitCode.USAGE
    first, hint = capsys.readouterr().err.splitlines()
    assert problem in first
    assert "--auth issuer=" in hint


def test_stdio_has_no_use_for_it(capsys: Output) -> None:
    assert main(["serve", "everything", "--auth", NEEDED]) == ExitCode.USAGE
    assert "--auth has no effect on stdio" in capsys.readouterr().err


def test_without_its_extra_it_says_what_to_install() -> None:
    """In a process of its own: here, what needs the extra has long been loaded."""
    without = "import sys; sys.modules['jwt'] = None; from assay.cli.main import main; sys.exit(main())"
    arguments = ["serve", "everything", "--transport", "http", "--port", "0", "--auth", NEEDED]
    command = [sys.executable, "-c", without, *arguments]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    problem = 'authorization needs PyJWT and cryptography: pip install "assay-mcp[auth]"'
    assert (done.returncode, done.stdout) == (ExitCode.NOT_STARTED, "")
    assert done.stderr == f"assay: error: {problem}\n"


def test_all_that_can_be_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET, "hush")
    keys = tmp_path / "keys.json"
    keys.write_text(json.dumps({"keys": [public_jwk(ec_key())]}))
    more = "introspection=https://as.example/i,client_id=me,dpop=required+nonce,resource=https://b.example"
    auth = make_auth(f"{NEEDED},jwks={keys},scopes=a,b c,{more}", "Name")
    assert isinstance(auth, Auth)
    assert (auth.issuer, auth.audience, auth.jwks, auth.name) == (ISSUER, AUDIENCE, str(keys), "Name")
    assert (auth.scopes, auth.address) == (["a", "b", "c"], "https://b.example")
    assert (auth.dpop.required, auth.dpop.nonce) == (True, True)
    assert auth.introspection is not None
    assert (auth.introspection.client_id, auth.introspection.client_secret) == ("me", "hush")


def test_a_secret_has_no_place_on_the_command_line() -> None:
    with pytest.raises(CommandFailed, match="not understood"):
        make_auth(f"{NEEDED},client_secret=hush", "Name")


@contextmanager
def running(*arguments: str) -> Iterator[list[str]]:
    """The first lines that a process prints; it ends with the test."""
    command = [warm_python(), "-m", "assay", *arguments]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            yield [process.stdout.readline().strip() for _ in range(3)]
        finally:
            process.kill()


def test_the_reference_server_in_its_protected_mode_and_an_authority() -> None:
    with running("authority", "--port", "0", "--client", "robot:s3cret") as lines:
        issuer = lines[1].removeprefix("issuer: ")
        protection = f"issuer={issuer},audience={AUDIENCE},scopes=use"
        serving = ("serve", "reference", "--transport", "http", "--port", "0", "--auth", protection)
        with running(*serving) as lines, httpx2.Client(trust_env=False, headers=BOTH) as client:
            endpoint = lines[1].rpartition(" ")[2]
            assert lines[2] == "- requires a bearer token"
            refused = client.post(endpoint, json=METADATA)
            assert refused.status_code == 401
            assert 'scope="use"' in refused.headers["www-authenticate"]
            form = {"grant_type": "client_credentials", "scope": "use", "resource": AUDIENCE}
            granted = client.post(f"{issuer}/token", data=form, auth=("robot", "s3cret")).json()
            headers = {"authorization": f"Bearer {granted['access_token']}"}
            served = client.post(endpoint, json=METADATA, headers=headers)
            assert served.json()["result"]["authRequired"] is True

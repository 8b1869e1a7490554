"""The search for secrets finds them: what is recorded, how it is encoded, where it is."""

import asyncio
import base64
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

import pytest

from interop.features import CLOSE, Mark, read_lines
from interop.oauth.__main__ import FEATURES, OAuthRun, searches
from interop.oauth.environment import Key, OAuthEnvironment, authority_command, started
from interop.oauth.recorder import KINDS, Conversation, Secret, recording, secrets_in, secrets_of_bytes
from interop.oauth.secret_search import FRAGMENT, report, search
from interop.official import Aborted, Exit
from tests.meta.tree import ROOT

TOKEN = "b3BhcXVlIHRva2VuIG9mIG5vYm9keSBhdCBhbGw"
JWT = f"{'eyJhbGciOiJFUzI1NiJ9'}.{'eyJzdWIiOiJhZGEifQ' * 2}.{'c2lnbmF0dXJl' * 4}"
BASIC = base64.b64encode(b"robot:a%2Fsecret").decode()


@pytest.mark.parametrize(
    ("data", "secrets"),
    [
        ("POST /mcp HTTP/1.1\r\nAuthorization: Bearer abc\r\n\r\n", [("access token", "abc")]),
        ("POST /mcp HTTP/1.1\r\nauthorization: DPoP abc\r\n\r\n", [("access token", "abc")]),
        ("POST /mcp HTTP/1.1\r\nDPoP: a.b.c\r\n\r\n", [("proof", "a.b.c")]),
        ("POST /mcp?access_token=abc HTTP/1.1\r\n\r\n", [("access token", "abc")]),
        ("POST / HTTP/1.1\r\n\r\ntoken=abc", [("access token", "abc")]),
        ("\r\n\r\nclient_id=me&code=a%2Fb&code_verifier=v", [("code", "a/b"), ("verifier", "v")]),
        ("\r\n\r\nrefresh_token=r&client_secret=s", [("refresh token", "r"), ("client secret", "s")]),
        ("\r\n\r\nclient_assertion_type=t&client_assertion=a", [("assertion", "a")]),
        ("\r\nlocation: http://127.0.0.1/callback?code=abc&state=s\r\n", [("code", "abc")]),
        (
            '{"access_token": "a", "refresh_token":"r"}',
            [("access token", "a"), ("refresh token", "r")],
        ),
        ('{"client_id":"me","client_secret":"s"}', [("client secret", "s")]),
        (f"\r\nauthorization: Basic {BASIC}\r\n", [("client secret", "a/secret"), ("client secret", BASIC)]),
        ("\r\nauthorization: Basic ?\r\n", [("client secret", "?")]),
        ('GET / HTTP/1.1\r\nhost: x\r\n\r\n{"code": -32600, "id": 1}', []),
    ],
)
def test_what_is_on_the_wire_is_known(data: str, secrets: list[tuple[str, str]]) -> None:
    assert sorted((secret.kind, secret.text) for secret in secrets_of_bytes(data.encode())) == sorted(secrets)


def test_a_secret_does_not_show_itself() -> None:
    assert TOKEN not in repr(Secret("code", TOKEN)) and TOKEN not in repr([Secret("code", TOKEN)])


def test_answers_are_told_apart() -> None:
    conversation = Conversation(
        responses=bytearray(b"HTTP/1.1 401 Unauthorized\r\n\r\nnoHTTP/1.1 200 OK\r\n\r\nyes")
    )
    assert [(status, text[-3:]) for status, text in conversation.answers()] == [(401, b"\nno"), (200, b"yes")]


async def test_the_recorder_passes_on_and_keeps_both_sides() -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write((await reader.read()).upper())
        writer.close()

    server = await asyncio.start_server(shout, "127.0.0.1", 0)
    async with server, recording() as recorder:
        recorder.target = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", recorder.port)
        writer.write(b"\r\ndpop: a-proof\r\n")
        writer.write_eof()
        assert await reader.read() == b"\r\nDPOP: A-PROOF\r\n"
        writer.close()
    assert secrets_in(recorder.conversations) == {Secret("proof", "a-proof"), Secret("proof", "A-PROOF")}


@pytest.mark.parametrize(
    ("secret", "written"),
    [
        (TOKEN, f"token {TOKEN}!"),
        (TOKEN, f"{TOKEN[:FRAGMENT]}..."),
        (TOKEN, f"...{TOKEN[-FRAGMENT:]}"),
        ("a/b+c=" * 5, quote("a/b+c=" * 5, safe="")),
        (TOKEN, base64.b64encode(f"{TOKEN}".encode()).decode()),
        (TOKEN, base64.b64encode(f"x{TOKEN}".encode()).decode()),
        (TOKEN, base64.b64encode(f"me:{TOKEN}:more".encode()).decode()),
        (TOKEN, base64.b64encode(f"you:{TOKEN}:more".encode()).decode()),
        (JWT, JWT),
        (JWT, JWT.split(".")[1]),
        (JWT, f"…{JWT[-20:]}"),
    ],
)
def test_a_secret_is_found_however_it_is_written(secret: str, written: str) -> None:
    result = search({"logs": [("a.log", written.encode())]}, [Secret("code", secret)], ["code"])
    assert result.leaks == ["code in logs: a.log"]
    assert not result.is_clean and "✗ code in logs: a.log" in report(result)


@pytest.mark.parametrize("written", ["", TOKEN[:-1][:8], JWT.split(".")[0], "nothing that is secret"])
def test_what_is_no_secret_is_not_found(written: str) -> None:
    secrets = [Secret("code", TOKEN), Secret("access token", JWT)]
    result = search({"logs": [("a.log", written.encode())]}, secrets, ["code", "access token"])
    assert result.is_clean and "✓ no secret found" in report(result)
    assert "for 2 secrets: 1 access token, 1 code" in report(result)


def test_a_search_for_nothing_or_nowhere_proves_nothing() -> None:
    somewhere = {"logs": [("a.log", b"text")]}
    assert search(somewhere, [], ["code"]).empty == ["code"]
    assert search(somewhere, [Secret("code", "short")], ["code"]).empty == ["code"]
    assert search({"logs": []}, [Secret("code", TOKEN)], ["code"]).empty == ["logs"]


def finished(tmp_path: Path, **files: str) -> OAuthRun:
    """An environment that has ended, with these files."""
    environment = OAuthEnvironment(
        tmp_path, opaque=False, signing={Secret("private key", "signing-key-of-the-authority")}
    )
    environment.authority.conversations = [
        Conversation(responses=bytearray(b"HTTP/1.1 400 Bad Request\r\n\r\n"))
    ]
    environment.servers.append(environment.authority)
    for name, text in {"authority.db": "", "server.log": "", **files}.items():
        (tmp_path / name).write_text(text)
    secrets = {Secret(kind, f"{TOKEN}-{kind}") for kind in KINDS}
    return OAuthRun(environment, [], secrets | environment.signing | environment.key.secrets)


@pytest.mark.parametrize(
    ("files", "leaks"),
    [
        ({}, []),
        ({"authority.db": "signing-key-of-the-authority"}, []),
        ({"server.log": "signing-key-of-the-authority"}, ["private key in files: server.log"]),
        (
            {"authority.db": TOKEN[-4:] + "-access token"},
            ["access token in stores of the authority: authority.db"],
        ),
    ],
)
def test_only_the_store_may_hold_the_signing_keys(
    tmp_path: Path, files: dict[str, str], leaks: list[str]
) -> None:
    results = list(searches(tmp_path, [finished(tmp_path, **files)]))
    assert [leak for result in results for leak in result.leaks] == leaks
    assert [result.empty for result in results] == [[], []]


def test_a_private_key_is_known_in_both_of_its_forms() -> None:
    key = Key()
    assert {secret.kind for secret in key.secrets} == {"private key"}
    assert sum(secret.text in key.pem for secret in key.secrets) == 2
    assert all(len(secret.text) >= FRAGMENT for secret in key.secrets)
    assert "d" not in key.public


async def test_a_command_that_does_not_start_is_told_without_its_secrets(tmp_path: Path) -> None:
    environment = OAuthEnvironment(tmp_path, opaque=False)
    assert any(environment.robot_secret in word for word in authority_command(environment))
    command = (sys.executable, "-c", "raise SystemExit('no such place')", environment.robot_secret)
    with pytest.raises(Aborted) as raised:
        async with started(command, tmp_path / "authority", re.compile(b"ready ()")) as ready:
            await ready
    assert raised.value.code is Exit.SERVER_DID_NOT_START
    assert "no such place" in str(raised.value) and environment.robot_secret not in str(raised.value)


def test_a_journey_that_tells_nothing_fails_at_every_step() -> None:
    cells = read_lines([], frozenset(), "", FEATURES)
    assert [*cells] == [*FEATURES]
    assert {name for name, cell in cells.items() if cell.mark is Mark.WORKS} == {CLOSE}


def test_without_the_sdk_it_says_what_to_do(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "interop.oauth", "--environments", str(tmp_path)]
    outcome = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=25, check=False)
    assert (outcome.returncode, "run `make interop`" in outcome.stderr) == (3, True), outcome.stderr

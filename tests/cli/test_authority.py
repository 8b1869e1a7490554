"""`assay authority`: what it prints, what it refuses, how it ends."""

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from assay.authority.faults import FAULTS
from assay.cli.exit_code import ExitCode
from assay.cli.main import main
from assay.transport.http1.listening import listen
from tests.driving.certificates import Authority
from tests.driving.warm_python import warm_python

Output = pytest.CaptureFixture[str]
PATIENCE = 20
PLACES = ("authorization", "token", "registration", "introspection", "revocation", "jwks")


class Running:
    """The command in a process of its own."""

    def __init__(self, *options: str) -> None:
        command = [warm_python(), "-m", "assay", "authority", "--port", "0", *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.banner, named = self.line(), self.line()
        issuer_line = re.fullmatch(r"issuer: (\S+)", named)
        assert issuer_line, self.process.communicate(timeout=PATIENCE)
        self.issuer = issuer_line[1]

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def end(self, number: signal.Signals) -> tuple[int, str, str]:
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err


@contextmanager
def authority(*options: str) -> Iterator[Running]:
    running = Running(*options)
    try:
        yield running
    finally:
        running.process.kill()
        running.process.communicate(timeout=PATIENCE)


def credentials(issuer: str) -> httpx2.Response:
    form = {"grant_type": "client_credentials", "resource": "http://127.0.0.1:1/mcp"}
    return httpx2.post(f"{issuer}/token", data=form, auth=("robot", "s3cret"))


def test_it_says_what_it_is_for_and_where_everything_is_and_ends_at_a_signal() -> None:
    with authority("--client", "robot:s3cret", "--fault", "wrong-iss", "--verbose") as running:
        assert "DEVELOPMENT" in running.banner
        lines = [running.line() for _ in PLACES]
        assert [re.match(r"  - ([a-z]+)_\w+: http://127", line)[1] for line in lines] == [*PLACES]  # type: ignore[index]
        assert running.line() == "  - fault: wrong-iss"
        assert credentials(running.issuer).status_code == 200
        code, out, err = running.end(signal.SIGINT)
        assert (code, out, err) == (ExitCode.INTERRUPTED, "", "POST /token 200\n")


def test_a_signal_rotates_the_key_and_another_ends_it() -> None:
    with authority() as running:
        lines = [running.line() for _ in PLACES]
        assert lines[-1].endswith("/jwks")
        before = httpx2.get(f"{running.issuer}/jwks").json()["keys"]
        running.process.send_signal(signal.SIGHUP)
        kid = running.line().removeprefix("new signing key: ")
        after = httpx2.get(f"{running.issuer}/jwks").json()["keys"]
        assert [key["kid"] for key in after] == [before[0]["kid"], kid]
        assert running.end(signal.SIGTERM) == (ExitCode.OK, "", "")


def test_keys_change_by_themselves_where_that_is_wanted() -> None:
    with authority("--rotate-every", "0.05") as running:
        for _ in PLACES:
            running.line()
        assert running.line().startswith("new signing key: ")
        assert running.line().startswith("new signing key: ")


def test_a_file_keeps_keys_from_one_run_to_the_next(tmp_path: Path) -> None:
    published = []
    for _ in range(2):
        with authority("--store", str(tmp_path / "authority.db")) as running:
            published.append(httpx2.get(f"{running.issuer}/jwks").json())
            assert running.end(signal.SIGTERM)[0] == ExitCode.OK
    assert published[0] == published[1]


def test_it_speaks_tls_where_it_has_a_certificate(tmp_path: Path) -> None:
    certificates = Authority(tmp_path, "authority")
    cert, key = certificates.issue("here")
    with authority("--tls-cert", str(cert), "--tls-key", str(key)) as running:
        assert running.issuer.startswith("https://127.0.0.1:")
        place = f"{running.issuer}/.well-known/oauth-authorization-server"
        known = httpx2.get(place, verify=certificates.client_context()).json()
        assert known["issuer"] == running.issuer


def test_all_faults_are_listed(capsys: Output) -> None:
    assert main(["authority", "--list-faults"]) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [*FAULTS]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--fault", "nonsense"], "unknown fault: nonsense"),
        (["--issuer", "http://a.example"], "must be https"),
        (["--issuer", "nonsense"], "must be an http or https URL"),
        (["--algorithm", "HS256"], "unknown algorithm: HS256"),
        (["--client", ":secret"], "ID or ID:SECRET"),
        (["--client", "id:"], "ID or ID:SECRET"),
        (["--client", "id", "--redirect-uri", "http://a.example/"], "--redirect-uri http://a.example/"),
        (["--scope", "a b"], "not an OAuth scope"),
        (["--access-lifetime", "-5"], "--access-lifetime"),
        (["--tls-key", "missing.pem"], "needs a server certificate"),
        (["--tls-cert", "missing.pem"], "missing.pem"),
        (["--store", "/"], "cannot keep records in /"),
        (["--host", "0.0.0.0", "--auto-approve"], "--auto-approve would issue tokens to everyone"),
        (["--host", "0.0.0.0", "--dev-mint"], "--dev-mint would issue tokens to everyone"),
    ],
)
def test_what_cannot_work_ends_in_one_line_and_a_hint(options: list[str], words: str, capsys: Output) -> None:
    assert main(["authority", "--port", "0", *options]) == ExitCode.USAGE
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err.splitlines()[0]
    assert len(output.err.splitlines()) == 2


def test_a_file_that_is_no_store_is_refused(tmp_path: Path, capsys: Output) -> None:
    (tmp_path / "text.db").write_text("this is no database" * 100)
    assert main(["authority", "--port", "0", "--store", str(tmp_path / "text.db")]) == ExitCode.USAGE
    assert "cannot keep records" in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(capsys: Output) -> None:
    with listen("127.0.0.1", 0) as taken:
        port = str(taken.getsockname()[1])
        assert main(["authority", "--port", port]) == ExitCode.NOT_STARTED
    assert capsys.readouterr().err.startswith(f"assay: error: port {port} is in use on 127.0.0.1\n")

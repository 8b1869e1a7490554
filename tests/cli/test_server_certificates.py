"""`assay server` before a server that asks for certificates."""

import shlex
import socket
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.lab.harness.run.run import parse_run
from assay.lab.harness.sabotage.certificate_authority import Issuer
from assay.revisions.registry import HANDSHAKE
from tests.driving.warm_python import warm_python

URL = "https://127.0.0.1:9/mcp"
NEWEST = HANDSHAKE[-1].date


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_server_is_met_with_a_certificate_and_judged_by_who_has_none(tmp_path: Path) -> None:
    authority, port = Issuer(tmp_path, "us"), free_port()
    server, driver, ca = authority.issue("server"), authority.issue("driver"), str(authority.file)
    words = [warm_python(), "-m", "assay", "serve", "everything", "--transport", "http"]
    words += ["--port", str(port), "--tls-cert", str(server.cert), "--tls-key", str(server.key)]
    identity = ["--ca", ca, "--client-cert", str(driver.cert), "--client-key", str(driver.key)]
    selection = ["--suite", "marketplace", "--scenario", "sec.certificate", "--spec-version", NEWEST]
    reached = [
        "--url",
        f"https://127.0.0.1:{port}/mcp",
        "--command",
        shlex.join([*words, "--tls-client-ca", ca]),
    ]
    assert main(["server", *reached, *identity, *selection]) == 0
    (stored,) = tmp_path.glob("results/run-*/run.json")
    (cell,) = parse_run(stored.read_bytes()).cells
    assert (cell.scenario, cell.checks[0].observations) == ("sec.certificate", 2)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--url", URL, "--client-key", "a.key"), "of no use without --client-cert"),
        (("--url", URL, "--client-cert", "nowhere.pem"), "certificate nowhere.pem"),
        (("--url", URL, "--ca", "nowhere.pem"), "authorities nowhere.pem"),
        (("--url", "http://127.0.0.1:9/mcp", "--ca", "a.pem"), "for a server on https://"),
        (("reference", "--client-cert", "a.pem"), "for a server on https://"),
    ],
)
def test_certificates_that_cannot_be_shown_are_told_at_once(
    options: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["server", *options]) == 2
    assert problem in capsys.readouterr().err

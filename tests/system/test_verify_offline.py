"""A bundle is verified where there is no network at all: in a network namespace without one."""

import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

from contrib import verify_bundle
from tests.certify import bundles

ALONE = ("unshare", "--net", "--map-root-user")
PROBE = "import socket; socket.create_connection(('127.0.0.1', {}), 1)"


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*ALONE, *command], check=False, capture_output=True, text=True, timeout=60)


def test_both_verifiers_need_no_network(tmp_path: Path) -> None:
    (tmp_path / "dev.pub").write_bytes(bundles.DEVELOPER.public.pem())
    evidence, key = str(bundles.make(tmp_path / "evidence", datetime.now(UTC))), str(tmp_path / "dev.pub")
    ours = run(sys.executable, "-m", "assay", "verify", evidence, "--trust", key, "--rejudge")
    assert (ours.returncode, ours.stdout.splitlines()[-1][:9]) == (0, "verified:"), ours.stderr
    second = run(sys.executable, verify_bundle.__file__, evidence, key)
    assert (second.returncode, second.stdout[:9]) == (0, "verified:"), second.stderr


def test_there_is_no_network_in_that_namespace() -> None:
    found = run(sys.executable, "-c", PROBE.format(9))
    assert "Network is unreachable" in found.stderr

"""The independent verifier agrees with ours. tests/certify/test_tampering.py compares what both refuse."""

import ast
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from assay.certify import profile_list
from assay.signing.canonical import encode
from contrib import verify_bundle
from tests.certify import bundles
from tests.certify.bundles import DEVELOPER, STRANGER

pytestmark = pytest.mark.waits

SCRIPT = Path(verify_bundle.__file__)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("contrib")
    (place / "dev.pub").write_bytes(DEVELOPER.public.pem())
    (place / "stranger.pub").write_bytes(STRANGER.public.pem())
    (place / "server.whl").write_bytes(bundles.WHEEL)
    bundles.make(place / "evidence", datetime.now(UTC))
    return place


def run(place: Path, *arguments: str) -> tuple[int, str]:
    """In isolated mode: without this directory and the environment variables."""
    command = [sys.executable, "-I", str(SCRIPT), *arguments]
    done = subprocess.run(command, check=False, cwd=place, capture_output=True, text=True, timeout=30)
    return done.returncode, done.stdout


def test_it_verifies(place: Path) -> None:
    output = 'verified: {"name": "my-server", "version": "1.0"}\n'
    assert run(place, "evidence", "dev.pub") == (0, output)
    assert run(place, "evidence", "dev.pub", "server.whl") == (0, output)


def test_it_refuses(place: Path) -> None:
    assert run(place, "evidence", "stranger.pub") == (1, "refused: ('unknown-key', 'MANIFEST.json')\n")
    another = run(place, "evidence", "dev.pub", "dev.pub")
    assert another == (1, "refused: ('wrong-artifact', 'MANIFEST.json')\n")


def test_unreadable_files_are_reported_in_one_line(place: Path) -> None:
    for directory, key in (("nothing", "dev.pub"), ("evidence", "nothing"), ("evidence", "server.whl")):
        code, output = run(place, directory, key)
        assert (code, output.count("\n"), output[:9]) == (1, 1, "refused: ")


def test_it_prints_its_usage(place: Path) -> None:
    assert run(place) == (1, "")


def test_it_is_short_enough_to_be_read() -> None:
    """By an auditor, in ten minutes."""
    lines = SCRIPT.read_text("utf-8").splitlines()
    assert sum(1 for line in lines if line.strip()) < 200


def test_it_imports_nothing_but_python_and_cryptography() -> None:
    tree = ast.parse(SCRIPT.read_text("utf-8"))
    names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    tops = {name.partition(".")[0] for name in names}
    assert tops - sys.stdlib_module_names == {"cryptography"}


def test_it_knows_the_same_frozen_lists() -> None:
    assert profile_list.known_digests() == verify_bundle.PROFILES


def test_it_reads_the_numbers_of_rfc_8785_and_those_of_older_bundles() -> None:
    value = {"b": [1e-7, 1e21, 1.5, 100.0, 7], "a": None, "\ufb33": 1, "\U0001f600": {"x": "\u00e9\n"}}
    for data in (encode(value), b'{"old":[1.0,1e-07]}'):
        assert verify_bundle.canonical(verify_bundle.parse(data)) == data
    for data in (b'{"b":1,"a":2}', b'{"a":1,"a":1}', b'{"a": 1}', b'["\\u0041"]'):
        assert verify_bundle.canonical(verify_bundle.parse(data)) != data

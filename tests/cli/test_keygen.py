"""`assay keygen`: a pair of keys, once."""

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.signing.keys import read_public_key, read_signing_key


def test_it_writes_a_pair_and_prints_the_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", str(tmp_path / "dev")]) == 0
    key = read_signing_key(tmp_path / "dev.key")
    assert read_public_key(tmp_path / "dev.pub") == key.public
    assert capsys.readouterr().out.splitlines()[-1] == f"key id {key.public.id}"


def test_it_writes_nothing_over_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(tmp_path / "dev")
    assert main(["keygen", name]) == 0
    before = (tmp_path / "dev.key").read_bytes()
    assert main(["keygen", name]) == 2
    assert "dev.key exists, and keys are never overwritten" in capsys.readouterr().err
    assert (tmp_path / "dev.key").read_bytes() == before


@pytest.mark.parametrize("name", ["", "keys/", "dev.key", "dev.pub"])
def test_a_name_that_is_none(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keygen", name]) == 2
    assert "not a name for a pair of keys" in capsys.readouterr().err

"""Without its libraries the lab says what to install."""

import pytest

from assay.cli.lab import extra
from assay.cli.main import main


@pytest.mark.parametrize("command", [["server", "everything"], ["judge", "."], ["prove"], ["report", "."]])
def test_missing_library_is_named_with_the_extra(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra, "NEEDED", ("no_such_library",))
    assert main(command) == 2
    assert capsys.readouterr().err == (
        'assay: error: the lab needs no-such-library, which is not installed\n  pip install "assay[lab]"\n'
    )


def test_what_makes_tokens_is_named_with_its_own_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra, "FOR_TOKENS", ("no_such_library",))
    assert main(["prove", "authorization.open-door"]) == 2
    assert capsys.readouterr().err.endswith('  pip install "assay[auth,lab]"\n')

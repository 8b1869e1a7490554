"""Without its libraries the lab says what to install."""

import pytest

from assay.cli.main import main
from assay.lab import extra


@pytest.mark.parametrize("command", [["server", "everything"], ["judge", "."], ["prove"], ["report", "."]])
def test_missing_library_is_named_with_the_extra(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra, "LAB", ("no_such_library",))
    assert main(command) == 2
    assert capsys.readouterr().err == (
        'assay: error: the lab needs no-such-library, which is not installed: pip install "assay-mcp[lab]"\n'
    )


@pytest.mark.parametrize(
    "command",
    [
        ["prove", "authorization.open-door"],
        ["client", "--command", "true"],
        ["judge", "nowhere"],
        ["explain", "PNG-01"],
    ],
)
def test_what_makes_tokens_comes_with_the_lab_and_is_named_where_it_is_missing(
    command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(extra, "TOKENS", ("no_such_library",))
    assert main(command) == 2
    assert capsys.readouterr().err == (
        'assay: error: the lab needs no-such-library, which is not installed: pip install "assay-mcp[lab]"\n'
    )

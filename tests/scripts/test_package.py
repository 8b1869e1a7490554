"""`make package` notices a command that fails, or that does not name the extra it needs."""

from pathlib import Path

import pytest

from scripts.package import PackageFailed, Probe, probe_outcome

PROBE = Probe(("check", "everything"), ({"lab"},))
NAMES_LAB = """echo 'the lab is missing: pip install "assay-mcp[lab]"' >&2; exit 2"""


def python(folder: Path, script: str) -> str:
    """A program in the place of an interpreter."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("script", "installed", "outcome"),
    [
        ("exit 0", {"lab"}, "check works"),
        (NAMES_LAB, set(), "check names [lab]"),
        (NAMES_LAB, {"ws"}, "check names [lab]"),
    ],
)
def test_a_probe_works_or_names_the_extra(
    script: str, installed: set[str], outcome: str, tmp_path: Path
) -> None:
    assert probe_outcome(python(tmp_path, script), PROBE, frozenset(installed), tmp_path) == outcome


@pytest.mark.parametrize(
    ("script", "installed"),
    [
        ("exit 1", {"lab"}),
        ("exit 0", set()),
        ("exit 2", set()),
        (NAMES_LAB, {"lab"}),
        ("echo 'Traceback (most recent call last)' >&2; exit 2", set()),
        ("""echo 'ModuleNotFoundError: pip install "assay-mcp[lab]"' >&2; exit 70""", set()),
    ],
    ids=["fails", "should not work", "no hint", "wrong hint", "traceback", "our fault"],
)
def test_anything_else_is_refused(script: str, installed: set[str], tmp_path: Path) -> None:
    with pytest.raises(PackageFailed):
        probe_outcome(python(tmp_path, script), PROBE, frozenset(installed), tmp_path)

"""Modules, files and commands that the handwritten pages name exist."""

import importlib
import re
from collections.abc import Iterator

from assay.cli.main import help_text
from tests.meta.tree import PACKAGE, ROOT, expect_none

PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
CODE = re.compile(r"`([^`\n]+)`")
DOTTED = re.compile(r"assay(?:\.\w+)+")
PATH = re.compile(r"[\w-]+/(?:[\w./-]*(?:\.\w+|/))?")
COMMAND = re.compile(r"(?:^|`)(?:\$ |- run: )?assay ([a-z]+)\b", re.MULTILINE)
HOMES = (ROOT, PACKAGE)
TOPS = {
    path.name: home
    for home in reversed(HOMES)
    for path in home.iterdir()
    if path.is_dir() and path.name != "results"
}


def exists(dotted: str) -> bool:
    """Whether it is a module, or an attribute of one."""
    parts = dotted.split(".")
    for size in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:size]))
        except ModuleNotFoundError:
            continue
        for part in parts[size:]:
            value = getattr(value, part, None)
        return value is not None
    return False


def missing(text: str) -> Iterator[str]:
    for code in CODE.findall(text):
        home = TOPS.get(code.partition("/")[0]) if PATH.fullmatch(code) else None
        lost_file = home is not None and not (home / code).exists()
        if lost_file or (DOTTED.fullmatch(code) and not exists(code)):
            yield code


def commands() -> set[str]:
    """Those that `assay --help` lists."""
    return {match[1] for match in re.finditer(r"^  (?!assay )([a-z]+) +\S", help_text(), re.MULTILINE)}


def test_named_modules_and_files_exist() -> None:
    expect_none(f"{page.name}: `{name}`" for page in PAGES for name in missing(page.read_text("utf-8")))


def test_named_commands_exist_and_all_are_documented() -> None:
    documented = set(COMMAND.findall((ROOT / "docs" / "commands.md").read_text("utf-8")))
    assert documented == commands()
    for page in PAGES:
        assert set(COMMAND.findall(page.read_text("utf-8"))) <= commands(), page.name


def test_a_missing_name_is_noticed() -> None:
    text = "`assay.server.nowhere`, `server/nowhere.py`, `tests/nowhere/`, `assay.Server`, `results/x.json`"
    assert list(missing(text)) == ["assay.server.nowhere", "server/nowhere.py", "tests/nowhere/"]

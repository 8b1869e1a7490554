"""What a wheel contains: hatchling leaves out what `.gitignore` names, and Python needs `__init__.py`."""

from fnmatch import fnmatch

from tests.meta.tree import PACKAGE, ROOT, expect_none

CACHES = {"__pycache__"}


def _source_files() -> list[tuple[str, ...]]:
    """The source files, as the parts of their paths below the root."""
    files = (path.relative_to(ROOT).parts for path in PACKAGE.rglob("*") if path.is_file())
    return [parts for parts in files if not CACHES & set(parts)]


def _unanchored_patterns() -> list[str]:
    """The patterns of `.gitignore` that match at any depth; one with a slash in front is for the root."""
    lines = (line.strip() for line in (ROOT / ".gitignore").read_text().splitlines())
    return [line.rstrip("/") for line in lines if line and not line.startswith(("#", "/"))]


def test_no_source_file_is_left_out_of_the_wheel() -> None:
    patterns = _unanchored_patterns()
    expect_none(
        f"{'/'.join(parts)}: .gitignore names {pattern}; write /{pattern} there"
        for parts in _source_files()
        for pattern in patterns
        if any(fnmatch(part, pattern) for part in parts)
    )


def test_every_package_has_an_init_file() -> None:
    folders = {parts[:-1] for parts in _source_files() if parts[-1].endswith(".py")}
    expect_none(
        f"{'/'.join(folder)} has no __init__.py"
        for folder in sorted(folders)
        if not ROOT.joinpath(*folder, "__init__.py").is_file()
    )

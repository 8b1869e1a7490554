"""Which files of the host a server can read: the system's programs, its own program, and what the command
names.

Nothing is run to find that out. A directory that holds more than one program, such as the home directory, is
never shown as a whole: there only the files that the command names are.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

SYSTEM: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *(
        f"/etc/{name}"
        for name in (
            *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version"),
            *("fonts", "gai.conf", "host.conf", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias"),
            *("localtime", "mime.types", "nsswitch.conf", "os-release", "pki/tls/certs", "protocols"),
            *("services", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "timezone"),
        )
    ),
)
BROAD: Final = frozenset(
    Path(name)
    for name in (
        *("/", "/boot", "/dev", "/etc", "/home", "/media", "/mnt", "/opt", "/proc", "/root", "/run"),
        *("/srv", "/sys", "/tmp", "/var", "/var/lib", "/var/tmp"),
    )
)
SHEBANG: Final = re.compile(rb"#!\s*(\S+)(?:\s+(?:-S\s+)?([^\s-]\S*))?")
TARGET_NAME: Final = re.compile(r"(.+\.py):\w+")
MODULES: Final = "node_modules"
MOST_PATH_FILES: Final = 100
"""Files of a Python environment that name further directories."""


def readable(words: Sequence[str], cwd: Path, further: Iterable[Path] = ()) -> tuple[str, ...]:
    """Paths, parents before what is below them, and none below another."""
    paths = [*map(Path, SYSTEM), *_of_program(words[0], cwd)]
    for word in words[1:]:
        paths += _of_argument(word, cwd)
    if not is_broad(cwd):
        paths.append(cwd)
    paths += [path.absolute() for path in further]
    return _outermost(_with_targets(paths))


def is_broad(directory: Path) -> bool:
    home = Path.home()
    return directory in BROAD or directory == home or directory in home.parents


def _with_targets(paths: Iterable[Path]) -> Iterator[Path]:
    """Each path, and what it is a link to."""
    for path in paths:
        if path.exists():
            yield path
            yield path.resolve()


def _outermost(paths: Iterable[Path]) -> tuple[str, ...]:
    chosen: list[Path] = []
    for path in sorted(set(paths), key=lambda path: (len(path.parts), path)):
        # What is below a link of the system, such as /lib, is below its target, too.
        if not any(parent in chosen and not parent.is_symlink() for parent in path.parents):
            chosen.append(path)
    return tuple(map(str, chosen))


def _of_program(word: str, cwd: Path) -> Iterator[Path]:
    program = shutil.which(word if os.sep not in word else str(cwd / word))
    if program is None:
        return
    for path in dict.fromkeys((Path(program).absolute(), Path(program).resolve())):
        yield from _installation(path)
    yield from _interpreter(Path(program), cwd)


def _installation(program: Path) -> Iterator[Path]:
    """The directory that a program is installed to: above its `bin`, else its own."""
    prefix = program.parent.parent if program.parent.name in ("bin", "Scripts") else program.parent
    prefix = _above_modules(program) or prefix
    if is_broad(prefix):
        yield program
        return
    yield prefix
    if (prefix / "pyvenv.cfg").is_file():
        yield from _of_environment(prefix)


def _interpreter(program: Path, cwd: Path) -> Iterator[Path]:
    """The interpreter of a script, which its first line names."""
    try:
        with program.open("rb") as file:
            first = file.readline(512)
    except OSError:
        return
    match = SHEBANG.match(first)
    if match is None:
        return
    named = match[2] if os.path.basename(match[1]) == b"env" and match[2] else match[1]
    interpreter = named.decode(errors="replace")
    if Path(interpreter).name != program.name:
        yield from _of_program(interpreter, cwd)


def _of_environment(prefix: Path) -> Iterator[Path]:
    """The interpreter that a virtual environment is based on, and directories that its `.pth` files name."""
    for line in (prefix / "pyvenv.cfg").read_text(errors="replace").splitlines():
        key, _, value = (part.strip() for part in line.partition("="))
        if key == "home" and value:
            base = Path(value).parent
            yield base if not is_broad(base) else Path(value)
    for file in sorted(prefix.glob("lib/python3*/site-packages/*.pth"))[:MOST_PATH_FILES]:
        for line in file.read_text(errors="replace").splitlines():
            directory = Path(line.strip())
            if directory.is_absolute() and directory.is_dir() and not is_broad(directory):
                yield directory


def _of_argument(word: str, cwd: Path) -> Iterator[Path]:
    """A path in an argument, also as `server.py:name` or `--option=path`."""
    candidates = [word, *(match[1] for match in (TARGET_NAME.fullmatch(word),) if match)]
    if word.startswith("-") and "=" in word:
        candidates = [word.partition("=")[2]]
    for text in candidates:
        path = cwd / text
        # `os.path.exists` accepts any text; a program in an argument would be too long for a path.
        if not text or not os.path.exists(path):
            continue
        if path.is_dir():
            yield from () if is_broad(path) else (path,)
            return
        directory = _above_modules(path.resolve()) or path.resolve().parent
        yield path
        yield path.resolve() if is_broad(directory) else directory
        return


def _above_modules(path: Path) -> Path | None:
    """The outermost directory of Node modules that a file is in: modules find each other upwards."""
    if MODULES not in path.parts:
        return None
    return Path(*path.parts[: path.parts.index(MODULES) + 1])

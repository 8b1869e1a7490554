"""Attempts to read outside a folder: traps inside it, canary files around it, and URIs that target them."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from urllib.parse import quote, unquote

from assay.bundled.reference.watch import BASE

CANARY = "canary-that-must-never-be-read"
INSIDE = {"notes.txt": "inside", "sub/deep.txt": "inside too", "sub/canary.txt": "a decoy"}

DOTS = (
    *("..", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "...", "..%00", "..%20", "..;", "..%09", "%2e%2e%2f.."),
    *(
        "%252e%252e",
        "%25252e%25252e",
        "%c0%ae%c0%ae",
        "%e0%80%ae.",
        "%EF%BC%8E%EF%BC%8E",
        "\uff0e\uff0e",
        "\u2024\u2024",
    ),
    *("..\\", "..%5c", "%2e%2e%5c", "..%c0%af", "..%ef%bc%8f", ".", "%2e", "~", "~root", "$HOME", "{..,x}"),
)
LINKS = (
    "link_file",
    "link_dir",
    "link_top",
    "link_up",
    "link_chain",
    "link_relative",
    "sub",
    "pipe",
    "socket",
    "zero",
    "device",
)
SEPARATORS = ("/", "/", "/", "//", "%2f", "%2F", "\\", "%5c", "/./", "%252f", "%c0%af", "/%2e/", "")
PREFIXES = (
    *(BASE, BASE, BASE, BASE + "/", BASE + "sub/", BASE + "link_dir/", BASE + "%2f", BASE.rstrip("/")),
    *("file:///", "file:////", "file://localhost/root/", "file:/root/", "FILE:///root/", "file:///ROOT/"),
    *("file:///resources/", "file:///notes/daily/", "file:///root/%2e%2e/", "file:///root/../", "root/", "/"),
)
SUFFIXES = (
    "",
    "",
    "",
    "%00",
    "%00.txt",
    "?",
    "?x=1",
    "#x",
    "/",
    "/.",
    "%20",
    ":$DATA",
    ";.txt",
    "%0a",
    ".md",
)


def build_box(top: Path) -> tuple[Path, tuple[str, ...]]:
    """Create a folder with traps next to canaries; returns it and the paths that an attacker would target."""
    box, outside, evil = top / "box", top / "outside", top / "box-evil"
    for directory in (box / "sub", outside, evil):
        directory.mkdir(parents=True)
    for path, text in INSIDE.items():
        (box / path).write_text(text)
    for place in (top, outside, evil):
        (place / "canary.txt").write_text(CANARY)
    (box / "link_file").symlink_to(outside / "canary.txt")
    (box / "link_relative").symlink_to("../outside/canary.txt")
    (box / "link_dir").symlink_to(outside, target_is_directory=True)
    (box / "sub" / "link_dir").symlink_to(outside, target_is_directory=True)
    (box / "link_top").symlink_to("/", target_is_directory=True)
    (box / "link_up").symlink_to("..", target_is_directory=True)
    (box / "link_chain").symlink_to("link_dir", target_is_directory=True)
    (box / "zero").symlink_to("/dev/zero")
    os.mkfifo(box / "pipe")
    os.mknod(box / "socket", 0o600 | stat.S_IFSOCK)
    with suppress(PermissionError):  # only root can create devices; otherwise a link to one must do
        os.mknod(box / "device", 0o600 | stat.S_IFCHR, os.makedev(1, 5))
    absolute = str(outside / "canary.txt")
    targets = ("canary.txt", "outside/canary.txt", "box-evil/canary.txt", "../box-evil/canary.txt", absolute)
    return box, (
        *targets,
        f"proc/self/root{absolute}",
        f"/proc/self/cwd/{absolute}",
        quote(absolute, safe=""),
    )


def attempts(targets: tuple[str, ...], count: int, seed: int = 7) -> list[str]:
    """Distinct URIs, reproducible by their seed."""
    chance = Random(seed)
    paths: dict[str, None] = {}
    while len(paths) < count:
        paths[attempt(chance, targets)] = None
    return list(paths)


def attempt(chance: Random, targets: tuple[str, ...]) -> str:
    """Half of them use a single trick, the others a mix."""
    if chance.random() < 0.5:
        trick = chance.choice((*DOTS[:5], *LINKS[:6], *(f"sub/{step}/{step}" for step in DOTS[:5])))
        walk = (trick + chance.choice(SEPARATORS)) * chance.randrange(1, 6)
        return chance.choice(PREFIXES[:8]) + walk + chance.choice(targets)
    steps = [chance.choice(DOTS if chance.random() < 0.7 else LINKS) for _ in range(chance.randrange(6))]
    walk = "".join(step + chance.choice(SEPARATORS) for step in steps)
    return chance.choice(PREFIXES) + walk + chance.choice(targets) + chance.choice(SUFFIXES)


def naive_readers(box: Path) -> Iterator[Callable[[str], str]]:
    """Typical naive readers, which the attempts must be able to fool."""

    def joined(path: str) -> str:
        return os.path.join(box, path)

    yield lambda path: Path(joined(path)).read_text()
    yield lambda path: Path(joined(unquote(path))).read_text()
    yield lambda path: Path(joined(path.replace("../", ""))).read_text()

    def by_prefix(path: str) -> str:
        resolved = Path(joined(path)).resolve()
        if not str(resolved).startswith(str(box)):
            raise PermissionError(path)
        return resolved.read_text()

    yield by_prefix

"""Snapshots of what a server lists: written to a file beside the test, and compared afterwards."""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn, overload

import msgspec

from assay import Client, ServerError, SyncClient
from assay.model.error import METHOD_NOT_FOUND
from assay.model.visible import visible_lines

FOLDER: Final = "snapshots"
LINES: Final = 200
"""Lines of a difference that are shown."""
LONGEST: Final = 100
"""Characters of a file's name."""
LARGEST: Final = 64 * 1024 * 1024
UPDATE: Final = "pytest --assay-update-snapshots"
LISTS: Final = {"tools": "name", "resources": "uri", "templates": "uriTemplate", "prompts": "name"}
"""The calls of a client that list something, and what identifies an item."""


class SnapshotDiffers(AssertionError):
    pass


class Snapshot:
    """Compares the lists of a server with a file.

        await snapshot(client)              # tools, resources, templates and prompts
        await snapshot(client, "tools")     # only the tools
        snapshot(sync_client)               # the same without async

    A missing file is written, except where the environment variable CI is set: there it is a failure.

    Args:
        path: The file, without its suffix. Further snapshots of the same test are numbered.
        update: Whether files are rewritten instead of compared.
        on_write: Called with the path of each file that is written.
    """

    def __init__(
        self, path: Path, *, update: bool = False, on_write: Callable[[Path], None] = lambda path: None
    ) -> None:
        self._path = path
        self._update = update
        self._count = 0
        self._unawaited = 0
        self._on_write = on_write

    @overload
    def __call__(self, client: SyncClient, *lists: str) -> None: ...
    @overload
    def __call__(self, client: Client, *lists: str) -> Awaitable[None]: ...
    def __call__(self, client: Client | SyncClient, *lists: str) -> Awaitable[None] | None:
        names = _names(lists)
        path = self._next_path()
        if isinstance(client, SyncClient):
            self._compare(path, {name: _listed(client, name) for name in names})
            return None
        self._unawaited += 1
        return self._compare_later(path, client, names)

    async def _compare_later(self, path: Path, client: Client, names: Sequence[str]) -> None:
        __tracebackhide__ = True
        self._unawaited -= 1
        self._compare(path, {name: await _listed_async(client, name) for name in names})

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("write `await assay_snapshot(assay_client, 'tools')` instead of comparing with ==")

    __hash__ = object.__hash__

    def finish(self) -> None:
        """
        Raises:
            AssertionError: a comparison was not awaited, so that nothing was compared.
        """
        if self._unawaited:
            raise AssertionError("a snapshot was not compared: write `await assay_snapshot(assay_client)`")

    def _next_path(self) -> Path:
        self._count += 1
        number = f".{self._count}" if self._count > 1 else ""
        return self._path.with_name(f"{self._path.name}{number}.json")

    def _compare(self, path: Path, lists: Mapping[str, list[Any]]) -> None:
        __tracebackhide__ = True
        now = {name: _sorted(definitions, LISTS[name]) for name, definitions in lists.items()}
        # Invisible characters in a description are for a reviewer to see; the escapes are JSON, too.
        text = visible_lines(json.dumps(now, indent=2, ensure_ascii=False)) + "\n"
        stored = _read(path)
        if stored == text:
            return
        if self._update or (stored is None and not os.environ.get("CI")):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8", newline="\n")
            self._on_write(path)
        elif stored is None:
            raise SnapshotDiffers(f"{path} is missing: write it with `{UPDATE}`, and commit it")
        else:
            raise SnapshotDiffers(visible_lines("\n".join(_difference(path, stored, text))))


def snapshot_path(test: Path, name: str) -> Path:
    """Where the snapshots of a test are: `snapshots/test_file.test_name` beside its file."""
    plain = re.sub(r"[^\w.-]+", "-", f"{test.stem}.{name}").strip("-")
    if len(plain) > LONGEST:
        plain = f"{plain[: LONGEST - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return test.parent / FOLDER / plain


def _names(lists: Sequence[str]) -> Sequence[str]:
    """
    Raises:
        ValueError: not a list of a server.
    """
    unknown = [name for name in lists if name not in LISTS]
    if unknown:
        raise ValueError(f"a server has no list of {unknown[0]!r}: one of {', '.join(LISTS)}")
    return lists or list(LISTS)


def _listed(client: SyncClient, name: str) -> list[Any]:
    try:
        return list(getattr(client, name)())
    except ServerError as error:
        return _nothing(error)


async def _listed_async(client: Client, name: str) -> list[Any]:
    try:
        return list(await getattr(client, name)())
    except ServerError as error:
        return _nothing(error)


def _nothing(error: ServerError) -> list[Any]:
    """A server without prompts, say, need not know the method."""
    if error.code != METHOD_NOT_FOUND:
        raise error
    return []


def _sorted(definitions: list[Any], key: str) -> list[Any]:
    """The definitions as on the wire, in an order that does not depend on registration."""
    return sorted((msgspec.to_builtins(item) for item in definitions), key=lambda item: str(item.get(key)))


def _read(path: Path) -> str | None:
    """
    Raises:
        SnapshotDiffers: the file is not one that was written here.
    """
    try:
        if path.stat().st_size > LARGEST:
            raise SnapshotDiffers(f"{path} is larger than {LARGEST} bytes: write it again with `{UPDATE}`")
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        return ""


def _difference(path: Path, stored: str, now: str) -> Iterator[str]:
    yield f"the lists of the server differ from {path}"
    yield from _changed_items(stored, now)
    yield ""
    lines = difflib.unified_diff(stored.splitlines(), now.splitlines(), "snapshot", "now", lineterm="", n=3)
    for number, line in enumerate(lines):
        if number == LINES:
            yield "…"
            break
        yield line
    yield ""
    yield f"if this is intended: {UPDATE}"


def _changed_items(stored: str, now: str) -> Iterator[str]:
    before, after = _items(stored), _items(now)
    for item in sorted(before.keys() | after.keys()):
        if item not in after:
            yield f"  removed  {item}"
        elif item not in before:
            yield f"  added    {item}"
        elif before[item] != after[item]:
            parts = [
                part
                for part in after[item] | before[item]
                if _part(before, item, part) != _part(after, item, part)
            ]
            yield f"  changed  {item}: {', '.join(parts)}"


def _part(items: Mapping[str, dict[str, Any]], item: str, part: str) -> Any:
    return items[item].get(part)


def _items(text: str) -> dict[str, dict[str, Any]]:
    """The items of a snapshot by kind and name; none if somebody edited it into something else."""
    try:
        lists = json.loads(text)
        return {
            f"{name.removesuffix('s')} {item[LISTS[name]]}": item
            for name, items in lists.items()
            for item in items
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}

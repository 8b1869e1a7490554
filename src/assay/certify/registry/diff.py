"""Compare two registry entries of a server. A change that a new version must not make is an error.

A prompt whose text changed needs a higher version, and so does a server with any change. An entry contains
the number of tools, not their names; names are compared if both entries come with manifests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

from msgspec import Struct

from assay.certify.vulnerabilities.version_order import semver
from assay.lab.harness.subject.registry_entry import (
    KINDS,
    PROFILE,
    PUBLISHER,
    as_object,
    profile_block,
)

Item = dict[str, Any]
Manifests = Mapping[str, Sequence[Item]]
"""The entries of manifests by kind."""


class Change(Struct, frozen=True):
    path: str
    message: str
    severity: Literal["error", "warning", "info"] = "info"

    def __str__(self) -> str:
        word = {"error": "FAILURE", "warning": "WARNING", "info": "changed"}[self.severity]
        return f"{word} {self.path}: {self.message}"


class Difference(Struct, frozen=True):
    acceptable: bool
    changes: list[Change]


def difference(
    old: Item, new: Item, old_manifests: Manifests | None = None, new_manifests: Manifests | None = None
) -> Difference:
    """Compare two entries; `acceptable` means that the new one may replace the old one."""
    before, after = _capabilities(old), _capabilities(new)
    is_major = _is_major(old, new)
    changes = [*_members(old, new), *_profile(profile_block(old), profile_block(new))]
    changes += _prompts(as_object(before.get("prompts")), as_object(after.get("prompts")))
    for kind in KINDS:
        named = (old_manifests or {}).get(kind), (new_manifests or {}).get(kind)
        changes += _offered(kind, before, after, named, is_major=is_major)
    changes = [*_version(old, new, changed=bool(changes)), *changes]
    return Difference(all(change.severity != "error" for change in changes), changes)


def _capabilities(entry: Item) -> Item:
    return as_object(profile_block(entry).get("capabilities"))


def _order(version: Any) -> tuple[Any, ...] | None:
    try:
        return semver(str(version))
    except ValueError:
        return None


def _is_major(old: Item, new: Item) -> bool:
    """Whether the new version may remove features: a major version or, below 1.0, a minor one."""
    before, after = _order(old.get("version")), _order(new.get("version"))
    if before is None or after is None:
        return False
    return bool(after[0] > before[0] or (before[0] == after[0] == 0 and after[1] > before[1]))


def _version(old: Item, new: Item, *, changed: bool) -> Iterator[Change]:
    before, after = old.get("version"), new.get("version")
    was, now = _order(before), _order(after)
    if was is None or now is None:
        if changed and before == after:
            yield Change("version", f"is still {after} although the entry changed", "error")
        elif before != after:
            hint = "write them as 1.2.0"
            yield Change("version", f"{before} and {after} cannot be compared: {hint}", "error")
    elif now < was:
        yield Change("version", f"was lowered from {before} to {after}", "error")
    elif changed and now == was:
        yield Change("version", f"is still {after} although the entry changed", "error")
    elif before != after:
        yield Change("version", f"{before} → {after}")


_SEPARATE: Final = ("version", "_meta", "name")


def _members(old: Item, new: Item) -> Iterator[Change]:
    if old.get("name") != new.get("name"):
        yield Change(
            "name", f"{old.get('name')} → {new.get('name')}: the entries describe different servers", "error"
        )
    for key in sorted({*old, *new} - {*_SEPARATE}):
        yield from _changed(key, old.get(key), new.get(key))
    provided = [as_object(as_object(entry.get("_meta")).get(PUBLISHER)) for entry in (old, new)]
    for key in sorted({*provided[0], *provided[1]} - {PROFILE}):
        yield from _changed(f"_meta.{key}", provided[0].get(key), provided[1].get(key))


def _profile(before: Item, after: Item) -> Iterator[Change]:
    if before and not after:
        yield Change(PROFILE, "is no longer claimed", "warning")
        return
    for key in sorted({*before, *after} - {"capabilities"}):
        removed = _removes(before.get(key), after.get(key))
        yield from _changed(key, before.get(key), after.get(key), "warning" if removed else "info")


def _removes(before: Any, after: Any) -> bool:
    """Whether something that clients may rely on was removed: a transport, a revision, batch support."""
    if isinstance(before, list) and isinstance(after, list):
        return any(item not in after for item in before)
    return as_object(before).get("batch") is True and as_object(after).get("batch") is not True


def _changed(
    path: str, before: Any, after: Any, severity: Literal["warning", "info"] = "info"
) -> Iterator[Change]:
    if before != after:
        yield Change(path, f"{_text(before)} → {_text(after)}", severity)


def _text(value: Any) -> str:
    return "none" if value is None else str(value)[:120]


def _prompts(before: Item, after: Item) -> Iterator[Change]:
    versions = as_object(before.get("versions")), as_object(after.get("versions"))
    digests = as_object(before.get("digests")), as_object(after.get("digests"))
    for name in sorted({*digests[0], *versions[0]} & {*digests[1], *versions[1]}):
        was, now = versions[0].get(name), versions[1].get(name)
        same = digests[0].get(name) == digests[1].get(name)
        yield from _prompt(f"prompts.{name}", was, now, same=same)


def _prompt(path: str, was: Any, now: Any, *, same: bool) -> Iterator[Change]:
    before, after = _order(was), _order(now)
    higher = before is not None and after is not None and after > before
    lower = before is not None and after is not None and after < before
    if not same and not higher:
        yield Change(
            path, f"its text changed at version {_text(was)} → {_text(now)}: raise the version", "error"
        )
    elif lower:
        yield Change(path, f"its version was lowered from {was} to {now}", "error")
    elif was != now:
        yield Change(path, f"{_text(was)} → {_text(now)}" + (", text unchanged" if same else ""))


def _offered(
    kind: str,
    before: Item,
    after: Item,
    named: tuple[Sequence[Item] | None, Sequence[Item] | None],
    *,
    is_major: bool,
) -> Iterator[Change]:
    """Added and removed items of a kind: by name if known, otherwise by number."""
    was, now = as_object(before.get(kind)), as_object(after.get(kind))
    removed: Literal["warning", "info"] = "info" if is_major else "warning"
    hint = "" if is_major else ": that requires a major version"
    names = _names(kind, was, now, named)
    if names is not None and names[0] != names[1]:
        for name in sorted(names[0] - names[1]):
            yield Change(f"{kind}.{name}", f"was removed{hint}", removed)
        for name in sorted(names[1] - names[0]):
            yield Change(f"{kind}.{name}", "was added")
    elif was.get("n") != now.get("n"):
        fewer = (now.get("n") or 0) < (was.get("n") or 0)
        message = f"{_text(was.get('n'))} → {_text(now.get('n'))}"
        yield Change(kind, message + (hint if fewer else ""), removed if fewer else "info")
    elif was != now:
        yield Change(kind, "names, schemas or versions differ")


def _names(
    kind: str, was: Item, now: Item, named: tuple[Sequence[Item] | None, Sequence[Item] | None]
) -> tuple[set[str], set[str]] | None:
    old, new = named
    if old is not None and new is not None:
        return {str(item.get("name")) for item in old}, {str(item.get("name")) for item in new}
    if kind == "prompts":
        return {*as_object(was.get("versions"))}, {*as_object(now.get("versions"))}
    return None

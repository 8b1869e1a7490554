"""The rules for the entry of a skill: each returns faults, or None if it does not apply."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, Final

MANIFEST: Final = "SKILL.md"
DYNAMIC: Final = "dynamic"
NAME: Final = re.compile(r"(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")
REG_NAME: Final = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2})*")
DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
MOST_FILES: Final = 512
MOST_BYTES: Final = 16 * 1024 * 1024
RESERVED: Final = "io.modelcontextprotocol/"
Entry = dict[str, Any]
Faults = list[str] | None


def uri_of(entry: Entry) -> str | None:
    uri = entry.get("uri")
    return uri if isinstance(uri, str) and uri else None


def segments(uri: str) -> list[str]:
    """The parts of the path after the scheme, the authority among them."""
    return [part for part in uri.partition("://")[2].split("/") if part]


def name_in(uri: str) -> str | None:
    """The name of a skill by its URI: the directory of its SKILL.md."""
    parts = segments(uri)
    return parts[-2] if len(parts) > 1 and parts[-1] == MANIFEST else None


def directory_of(uri: str) -> str | None:
    """The directory of a skill's files."""
    return uri.removesuffix(f"/{MANIFEST}") if uri.endswith(f"/{MANIFEST}") else None


def fields_of(entry: Entry) -> Entry:
    fields = entry.get("frontmatter")
    return fields if isinstance(fields, dict) else {}


def files_of(entry: Entry) -> list[Entry] | None:
    """The files that it lists; None if it has no list."""
    files = entry.get("resources")
    if not isinstance(files, list):
        return None
    return [file if isinstance(file, dict) else {} for file in files]


def uri_faults(entry: Entry) -> Faults:
    return [] if uri_of(entry) else [f"uri {entry.get('uri')!r}"]


def frontmatter_faults(entry: Entry) -> Faults:
    if not isinstance(entry.get("frontmatter"), dict):
        return [f"frontmatter {entry.get('frontmatter')!r}"]
    return lacking_fields(fields_of(entry))


def lacking_fields(fields: Entry) -> list[str]:
    """Every skill has a name and a description."""
    return [
        f"{key} {fields.get(key)!r}"
        for key in ("name", "description")
        if not (isinstance(fields.get(key), str) and fields[key])
    ]


def name_faults(entry: Entry) -> Faults:
    uri, name = uri_of(entry), fields_of(entry).get("name")
    if uri is None or not isinstance(name, str):
        return None
    return [] if name_in(uri) == name else [f"the skill {name!r}"]


def naming_faults(entry: Entry) -> Faults:
    name = name_in(uri_of(entry) or "")
    if name is None:
        return None
    return [] if NAME.fullmatch(name) else [f"the name {name!r}"]


def scheme_faults(entry: Entry) -> Faults:
    uri = uri_of(entry)
    if uri is None:
        return None
    return [] if uri.startswith("skill://") else ["another scheme"]


def authority_faults(entry: Entry) -> Faults:
    parts = segments(uri_of(entry) or "")
    if not parts:
        return None
    return [] if REG_NAME.fullmatch(parts[0]) else [f"the first segment {parts[0]!r}"]


def resources_faults(entry: Entry) -> Faults:
    files = entry.get("resources")
    return [] if isinstance(files, list) or files == DYNAMIC else [f"resources {files!r}"]


def complete_faults(entry: Entry) -> Faults:
    """Each file once, and the manifest among them."""
    files, uri = files_of(entry), uri_of(entry)
    if files is None or uri is None:
        return None
    names = Counter(str(file.get("uri")) for file in files)
    lacking = [] if uri in names else [f"no {uri} among the files"]
    return lacking + [f"{name} {times} times" for name, times in names.items() if times > 1]


def within_faults(entry: Entry) -> Faults:
    files, home = files_of(entry), directory_of(uri_of(entry) or "")
    if files is None or home is None:
        return None
    names = [file.get("uri") for file in files]
    return [f"the file {name!r}" for name in names if not str(name).startswith(f"{home}/")]


def digest_faults(entry: Entry) -> Faults:
    files = files_of(entry)
    if files is None:
        return None
    digests = [file.get("digest") for file in files]
    return [f"digest {digest!r}" for digest in digests if not DIGEST.fullmatch(str(digest))]


def size_faults(entry: Entry) -> Faults:
    files = files_of(entry)
    if files is None:
        return None
    return [f"size {file.get('size')!r}" for file in files if not is_size(file.get("size"))]


def is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def count_faults(entry: Entry) -> Faults:
    files = files_of(entry)
    if files is None:
        return None
    return [f"{len(files)} files"] if len(files) > MOST_FILES else []


def total_faults(entry: Entry) -> Faults:
    files = files_of(entry)
    if files is None:
        return None
    total = sum(file["size"] for file in files if is_size(file.get("size")))
    return [f"{total} bytes"] if total > MOST_BYTES else []


def reserved_faults(entry: Entry) -> Faults:
    metadata = fields_of(entry).get("metadata")
    keys = metadata if isinstance(metadata, dict) else {}
    return [f"the key {key!r}" for key in keys if key.startswith(RESERVED)]


def children(entry: Entry, directory: str) -> dict[str, str | None]:
    """The children of a directory by the entry: directories with their type, files with None."""
    uris = [str(file.get("uri")) for file in files_of(entry) or ()]
    kinds: dict[str, str | None] = {}
    for uri in uris:
        name, slash, _ = uri.removeprefix(f"{directory}/").partition("/")
        if uri.startswith(f"{directory}/") and name:
            kinds[f"{directory}/{name}"] = "inode/directory" if slash else None
    return kinds


def subdirectories(entry: Entry) -> list[str]:
    """The directories in the directory of the skill."""
    home = directory_of(uri_of(entry) or "")
    return [] if home is None else [uri for uri, kind in children(entry, home).items() if kind]

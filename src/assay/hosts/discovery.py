"""Which servers the applications on this machine have configured."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from .entry import Entry, Local, Remote, read_entry
from .error import HostFileProblem
from .host import Host
from .installation import servers_in

HIDDEN: Final = "•••"
_SECRET_OPTION: Final = re.compile(
    r"(--?[\w-]*(?:key|token|secret|password|passwd|auth|credential|header)[\w-]*)(=|$)", re.IGNORECASE
)
_USER_OF_URL: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_QUERY_OF_URL: Final = re.compile(r"(?<=[?&])([\w.~-]+)=[^&#\s]*")
_LONG_WORD: Final = re.compile(r"(?=[\w+=-]*\d)(?=[\w+=-]*[A-Za-z])[\w+=-]{24,}")
"""What may be a key: long, with letters and digits, and without the dots of names of files and hosts."""


class Configured(NamedTuple):
    host: str
    path: Path
    name: str
    entry: Entry | None
    problem: str = ""


def discover(hosts: Mapping[str, Host], files: Mapping[str, list[Path]]) -> Iterator[Configured]:
    """The servers in these files, by the names of their applications. A file that does not exist has none."""
    for name, paths in files.items():
        for path in paths:
            yield from _in_file(name, hosts[name], path)


def _in_file(host: str, known: Host, path: Path) -> Iterator[Configured]:
    try:
        servers = servers_in(path, known.key)
    except HostFileProblem as error:
        yield Configured(host, path, "", None, error.problem)
        return
    for name, settings in servers.items():
        try:
            yield Configured(host, path, name, read_entry(settings))
        except ValueError as error:
            yield Configured(host, path, name, None, str(error))


def masked(entry: Entry) -> Entry:
    """The entry without what may be a secret: values of variables, headers, and options named like one."""
    if isinstance(entry, Remote):
        return Remote(_masked_word(entry.url), dict.fromkeys(entry.headers, HIDDEN))
    return Local(tuple(_masked_words(entry.words)), dict.fromkeys(entry.env, HIDDEN))


def without_secrets(text: str, entry: Entry) -> str:
    """A text about the entry, such as an error, without what is masked in it."""
    shown = masked(entry)
    if isinstance(entry, Remote):
        secrets = [entry.url, *entry.headers.values()]
    else:
        secrets = [word for word in entry.words if word not in shown[0]] + [*entry.env.values()]
    for secret in sorted(filter(None, secrets), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def _masked_words(words: tuple[str, ...]) -> Iterator[str]:
    hides_next = False
    for word in words:
        option = _SECRET_OPTION.match(word)
        if hides_next:
            yield HIDDEN
        elif option is not None and option[2]:
            yield f"{option[1]}={HIDDEN}"
        else:
            yield _masked_word(word)
        hides_next = option is not None and not option[2] and not hides_next


def _masked_word(word: str) -> str:
    if "://" not in word:
        return HIDDEN if _LONG_WORD.fullmatch(word) else word
    url = _QUERY_OF_URL.sub(rf"\1={HIDDEN}", _USER_OF_URL.sub(HIDDEN, word))
    return "/".join(HIDDEN if _LONG_WORD.fullmatch(part) else part for part in url.split("/"))

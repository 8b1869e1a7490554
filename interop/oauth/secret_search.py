"""Search everything that was written for secrets: whole or in part, plain or encoded."""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from interop.oauth.recorder import Secret

# Length of the fragments to search for; shorter values are not secrets.
FRAGMENT = 16


@dataclass
class Search:
    """What was searched, for which secrets, and where one was found."""

    secrets: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    size: int = 0
    leaks: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Kinds of secrets and places that were missing: an empty search proves nothing."""

    @property
    def is_clean(self) -> bool:
        return not self.leaks and not self.empty


def search(
    texts: Mapping[str, Iterable[tuple[str, bytes]]], secrets: Iterable[Secret], kinds: Sequence[str]
) -> Search:
    """Search texts, grouped by place, for secrets; each of `kinds` must be present."""
    result = Search()
    known = {secret for secret in secrets if len(secret.text) >= FRAGMENT}
    result.secrets.update(secret.kind for secret in known)
    needles = {needle: secret.kind for secret in sorted(known) for needle in needles_of(secret.text)}
    for place, named in texts.items():
        for name, text in named:
            result.places[place] += 1
            result.size += len(text)
            result.leaks += [f"{kind} in {place}: {name}" for kind in kinds_in(text, needles)]
    result.empty = [kind for kind in kinds if not result.secrets[kind]]
    result.empty += [place for place in texts if not result.places[place]]
    return result


def kinds_in(text: bytes, needles: Mapping[bytes, str]) -> list[str]:
    return sorted({kind for needle, kind in needles.items() if needle in text})


def needles_of(secret: str) -> Iterator[bytes]:
    """Beginning and end of every significant part, in each encoding."""
    for part in parts_of(secret):
        for piece in (part[:FRAGMENT], part[-FRAGMENT:]):
            yield piece.encode()
            yield quote(piece, safe="").encode()
        yield from in_base64(part.encode())


def parts_of(secret: str) -> Sequence[str]:
    """Claims and signature of a JWT, whose header is not secret; else the whole secret."""
    parts = secret.split(".")
    is_jwt = len(parts) == 3 and all(len(part) >= FRAGMENT for part in parts)
    return parts[1:] if is_jwt else [secret]


def in_base64(part: bytes) -> Iterator[bytes]:
    """The Base64 forms at each of the three offsets within a longer text."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + part).rstrip(b"=")[:-1]
        yield encoded[4:][:FRAGMENT] if before else encoded[:FRAGMENT]


def files_below(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(directory)), path.read_bytes()


def report(result: Search) -> str:
    """The result as text."""
    places = ", ".join(f"{count} {place}" for place, count in result.places.items())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.secrets.items()))
    lines = [
        f"searched {places}: {result.size:,} bytes",
        f"for {result.secrets.total()} secrets: {kinds}",
        *(f"✗ missing: {kind}" for kind in result.empty),
        *(f"✗ {leak}" for leak in result.leaks),
        f"✗ {len(result.leaks)} secrets found" if result.leaks else "✓ no secret found",
    ]
    return "\n".join(lines)

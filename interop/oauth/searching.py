"""Look for secrets in everything that was written: whole or in part, plain or in another spelling."""

import base64
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from interop.oauth.recorder import Secret

# So much of a secret is enough to be found by; what is shorter as a whole is none.
PIECE = 16


@dataclass
class Search:
    """What was searched for what, and where something was found."""

    secrets: Counter[str] = field(default_factory=Counter)
    places: Counter[str] = field(default_factory=Counter)
    size: int = 0
    leaks: list[str] = field(default_factory=list)
    empty: list[str] = field(default_factory=list)
    """Kinds of secrets and of places of which there was none: a search for nothing proves nothing."""

    @property
    def is_clean(self) -> bool:
        return not self.leaks and not self.empty


def search(
    texts: Mapping[str, Iterable[tuple[str, bytes]]], secrets: Iterable[Secret], kinds: Sequence[str]
) -> Search:
    """Search texts, by the kind of their place, for secrets; there must be some of each of the `kinds`."""
    result = Search()
    wanted = {secret for secret in secrets if len(secret.text) >= PIECE}
    result.secrets.update(secret.kind for secret in wanted)
    needles = {needle: secret.kind for secret in sorted(wanted) for needle in needles_of(secret.text)}
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
    """Beginning and end of every part that tells something, as it would be written."""
    for part in parts_of(secret):
        for piece in (part[:PIECE], part[-PIECE:]):
            yield piece.encode()
            yield quote(piece, safe="").encode()
        yield from in_base64(part.encode())


def parts_of(secret: str) -> Sequence[str]:
    """Of a JWT the claims and the signature: its header is the same for everybody."""
    parts = secret.split(".")
    is_jwt = len(parts) == 3 and all(len(part) >= PIECE for part in parts)
    return parts[1:] if is_jwt else [secret]


def in_base64(part: bytes) -> Iterator[bytes]:
    """Wherever it begins within three bytes of something longer."""
    for before in range(3):
        encoded = base64.b64encode(b"\0" * before + part).rstrip(b"=")[:-1]
        yield encoded[4:][:PIECE] if before else encoded[:PIECE]


def files_below(directory: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(directory.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(directory)), path.read_bytes()


def shown(result: Search) -> str:
    """What was searched, for what, and what was found."""
    places = ", ".join(f"{count} {place}" for place, count in result.places.items())
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.secrets.items()))
    lines = [
        f"searched {places}: {result.size:,} bytes",
        f"for {result.secrets.total()} secrets: {kinds}",
        *(f"✗ nothing of this kind was there: {kind}" for kind in result.empty),
        *(f"✗ {leak}" for leak in result.leaks),
        f"{'✓ no secret' if not result.leaks else f'✗ {len(result.leaks)} times a secret'} was found",
    ]
    return "\n".join(lines)

"""Environment seeds of a recording: what makes a server's answers repeat, as far as it honours them."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime
from hashlib import sha256
from typing import Final

from msgspec import Struct

from assay.lab.error import InvalidOptions
from assay.model.seed import CLOCK, RANDOM_SEED

MOST_VARIABLES: Final = 64
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_FORMS: Final = {
    "random": re.compile(r"[!-~]{1,128}"),
    "timezone": re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}"),
    "locale": re.compile(r"[A-Za-z][A-Za-z0-9_.@-]{0,63}"),
    "hash_seed": re.compile(r"[0-9]{1,9}"),
}
"""A bundle may come from anywhere, and these values become environment variables of a process."""


class Seeds(Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    clock: str = "2026-01-01T00:00:00+00:00"
    random: str = ""
    """Default: random, and stored in the bundle."""
    timezone: str = "UTC"
    locale: str = "C.UTF-8"
    hash_seed: str = "0"
    """For `PYTHONHASHSEED`: the order of sets in Python."""

    def filled(self) -> Seeds:
        """The same, with a random seed if there is none.

        Raises:
            InvalidOptions: a value is invalid.
        """
        seeds = self if self.random else Seeds(**{**_fields(self), "random": secrets.token_hex(8)})
        problem = seeds.problem()
        if problem:
            raise InvalidOptions(problem, "see `assay replay record --help` for the form of each seed")
        return seeds

    def problem(self) -> str:
        """What is wrong with a value; empty if nothing is."""
        for name, form in _FORMS.items():
            if not form.fullmatch(getattr(self, name)):
                return f"invalid seed `{name}`: {getattr(self, name)[:80]!r}"
        try:
            has_zone = datetime.fromisoformat(self.clock).tzinfo is not None
        except ValueError:
            has_zone = False
        return "" if has_zone and len(self.clock) <= 64 else f"invalid seed `clock`: {self.clock[:80]!r}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            CLOCK: self.clock,
            RANDOM_SEED: self.random,
            "TZ": self.timezone,
            "LC_ALL": self.locale,
            "PYTHONHASHSEED": self.hash_seed,
        }


def _fields(seeds: Seeds) -> dict[str, str]:
    return {name: getattr(seeds, name) for name in seeds.__struct_fields__}


def digests(names: Iterable[str], environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The digest of each variable that a recording depends on. Values are not stored: they may be secret.

    Raises:
        InvalidOptions: a name is invalid, or there are too many.
    """
    chosen = list(dict.fromkeys(names))
    invalid = [name for name in chosen if not _VARIABLE.fullmatch(name)]
    if invalid or len(chosen) > MOST_VARIABLES:
        problem = f"not the name of a variable: {invalid[0]!r}" if invalid else "too many variables"
        raise InvalidOptions(problem, f"--env takes the name of a variable, at most {MOST_VARIABLES} times")
    return {name: digest(environment.get(name)) for name in chosen}


def digest(value: str | None) -> str:
    return (
        "unset" if value is None else f"sha256:{sha256(value.encode(errors='surrogateescape')).hexdigest()}"
    )


def is_variable(name: str) -> bool:
    return _VARIABLE.fullmatch(name) is not None

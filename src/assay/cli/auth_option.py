"""The option `--auth` of `assay serve`: whose tokens let a client in."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from assay.model.error import MissingExtra

from .exit_code import CommandFailed, ExitCode

if TYPE_CHECKING:
    from assay.auth import Auth

SECRET: Final = "ASSAY_CLIENT_SECRET"
"""Where the secret for introspection is looked for: a command line is read by anybody on the machine."""
HINT: Final = "write --auth issuer=URL,audience=URL[,jwks=URL|FILE][,scopes=A,B]; docs/protect.md has more"
REQUIRED: Final = ("issuer", "audience")
PLAIN: Final = (*REQUIRED, "jwks", "resource")
KNOWN: Final = (*PLAIN, "scopes", "introspection", "client_id", "dpop")
DPOP: Final = ("required", "nonce")


def make_auth(text: str, name: str) -> Auth:
    """
    Raises:
        CommandFailed: the text is not understood, or what it says cannot be.
    """
    given = read_pairs(text)
    try:
        from assay.auth import Auth

        options: dict[str, Any] = {key: given[key] for key in PLAIN if key in given}
        options["scopes"] = given.get("scopes", "").replace(",", " ").split()
        return Auth(**options, **more_options(given), name=name)
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"--auth: {error}", HINT) from error


def read_pairs(text: str) -> dict[str, str]:
    """Pairs with commas between; what follows a comma and is no pair belongs to the value before."""
    given: dict[str, str] = {}
    last = ""
    for item in text.split(","):
        key, equals, value = item.partition("=")
        if equals and key in KNOWN and key not in given:
            given[key], last = value.strip(), key
        elif last == "scopes" and not equals:
            given[last] += f",{item}"
        else:
            # Not the value: whoever tries to give a secret here would have it in a log.
            raise CommandFailed(ExitCode.USAGE, f"--auth: not understood: {key + equals!r}", HINT)
    for key in REQUIRED:
        if not given.get(key):
            raise CommandFailed(ExitCode.USAGE, f"--auth: {key} is missing", HINT)
    return given


def more_options(given: dict[str, str]) -> dict[str, Any]:
    from assay.auth import DPoP, Introspection

    found: dict[str, Any] = {}
    if "dpop" in given:
        wishes = given["dpop"].split("+")
        if not set(wishes) <= set(DPOP):
            raise ValueError(f"dpop must be {' or '.join(DPOP)}, or both with a plus sign: {given['dpop']!r}")
        found["dpop"] = DPoP(required="required" in wishes, nonce="nonce" in wishes)
    if "introspection" in given:
        secret = os.environ.get(SECRET, "")
        if not given.get("client_id") or not secret:
            raise ValueError(f"introspection needs client_id=…, and the secret in the environment: {SECRET}")
        found["introspection"] = Introspection(
            url=given["introspection"], client_id=given["client_id"], client_secret=secret
        )
    elif "client_id" in given:
        raise ValueError("client_id is for introspection=URL")
    return found

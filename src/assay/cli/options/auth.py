"""`assay serve --auth`: which tokens the server accepts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.model.error import MissingExtra

if TYPE_CHECKING:
    from assay.auth import Auth

SECRET: Final = "ASSAY_CLIENT_SECRET"
"""The environment variable with the secret for introspection: a command line is visible to other users."""
HINT: Final = "write --auth issuer=URL,audience=URL[,jwks=URL|FILE][,scopes=A,B]; docs/protect.md has more"
REQUIRED: Final = ("issuer", "audience")
PLAIN: Final = (*REQUIRED, "jwks", "resource")
KNOWN: Final = (*PLAIN, "scopes", "introspection", "client_id", "dpop")
DPOP: Final = ("required", "nonce")


def make_auth(text: str, name: str) -> Auth:
    """
    Raises:
        CommandFailed: the text cannot be parsed, or its values cannot be used.
    """
    pairs = read_pairs(text)
    try:
        from assay.auth import Auth

        options: dict[str, Any] = {key: pairs[key] for key in PLAIN if key in pairs}
        options["scopes"] = pairs.get("scopes", "").replace(",", " ").split()
        return Auth(**options, **more_options(pairs), name=name)
    except MissingExtra as error:
        raise CommandFailed(ExitCode.NOT_STARTED, str(error)) from error
    except ValueError as error:
        raise CommandFailed(ExitCode.USAGE, f"--auth: {error}", HINT) from error


def read_pairs(text: str) -> dict[str, str]:
    """Pairs separated by commas. After `scopes=`, words without `=` are further scopes."""
    pairs: dict[str, str] = {}
    last = ""
    for item in text.split(","):
        key, equals, value = item.partition("=")
        if equals and key in KNOWN and key not in pairs:
            pairs[key], last = value.strip(), key
        elif last == "scopes" and not equals:
            pairs[last] += f",{item}"
        else:
            # The value is left out: a secret that was given by mistake must not reach a log.
            raise CommandFailed(ExitCode.USAGE, f"--auth: not understood: {key + equals!r}", HINT)
    for key in REQUIRED:
        if not pairs.get(key):
            raise CommandFailed(ExitCode.USAGE, f"--auth: {key} is missing", HINT)
    return pairs


def more_options(pairs: dict[str, str]) -> dict[str, Any]:
    from assay.auth import DPoP, Introspection

    options: dict[str, Any] = {}
    if "dpop" in pairs:
        modes = pairs["dpop"].split("+")
        if not set(modes) <= set(DPOP):
            raise ValueError(f"dpop must be {' or '.join(DPOP)}, or both with a plus sign: {pairs['dpop']!r}")
        options["dpop"] = DPoP(required="required" in modes, nonce="nonce" in modes)
    if "introspection" in pairs:
        secret = os.environ.get(SECRET, "")
        if not pairs.get("client_id") or not secret:
            raise ValueError(f"introspection needs client_id=…, and the secret in the environment: {SECRET}")
        options["introspection"] = Introspection(
            url=pairs["introspection"], client_id=pairs["client_id"], client_secret=secret
        )
    elif "client_id" in pairs:
        raise ValueError("client_id is for introspection=URL")
    return options

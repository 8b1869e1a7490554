"""The tokens to show to a protected server, from the command line or from an authorization server."""

from __future__ import annotations

import argparse
import os
import re
from typing import Final

from assay.cli.auth_option import SECRET
from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.links.broken_off import NoToken
from assay.lab.harness.subject.bearer import EXPIRED, FOREIGN, OTHER, USUAL, WEAK, Wallet
from assay.lab.harness.subject.token_source import ClientCredentials, TokenSource
from assay.lab.harness.trace.redaction import Redaction

from .certificates import identity_of

KINDS: Final = {
    "bearer": USUAL,
    "bearer_other": OTHER,
    "bearer_weak": WEAK,
    "bearer_expired": EXPIRED,
    "bearer_foreign": FOREIGN,
}
FOR_AUTHORITY: Final = ("audience", "client_id", "token_scope")
_NO_TOKEN: Final = re.compile(r"[\x00-\x20\x7f]")


def given_tokens(options: argparse.Namespace) -> dict[str, str]:
    """By kind.

    Raises:
        CommandFailed: one of them cannot be a token, or does not fit the others.
    """
    found = {kind: token for name, kind in KINDS.items() if (token := getattr(options, name))}
    if any(_NO_TOKEN.search(token) for token in found.values()):
        raise CommandFailed(ExitCode.USAGE, "a bearer token has no spaces or line breaks")
    if found and options.authority:
        raise CommandFailed(ExitCode.USAGE, "give --authority, or tokens of your own, not both")
    if found and USUAL not in found:
        problem = "bad tokens prove nothing without a good one"
        raise CommandFailed(ExitCode.USAGE, problem, "give --bearer too")
    return found


def wallet_of(options: argparse.Namespace, redaction: Redaction) -> Wallet:
    """
    Raises:
        CommandFailed: an option is missing.
    """
    if options.authority:
        source = source_of(options)
        return Wallet(fetch=source.fetch, grant=source.grant, mint=source.mint, learn=redaction.learn)
    for name in FOR_AUTHORITY:
        if getattr(options, name):
            problem = f"--{name.replace('_', '-')} is about tokens from --authority, and there is none"
            raise CommandFailed(ExitCode.USAGE, problem)
    return Wallet(given_tokens(options), learn=redaction.learn)


def source_of(options: argparse.Namespace) -> TokenSource:
    audience = options.audience or re.sub(r"^ws", "http", options.url or "")
    scopes, identity = options.token_scope, identity_of(options)
    if not options.client_id:
        return TokenSource(options.authority, audience, scopes=scopes, identity=identity)
    secret = os.environ.get(SECRET)
    if not secret:
        problem = f"--client-id needs its secret in the environment: {SECRET}"
        raise CommandFailed(ExitCode.USAGE, problem)
    return TokenSource(
        options.authority, audience, ClientCredentials(options.client_id, secret), scopes, identity
    )


async def equip(wallet: Wallet) -> None:
    """Get the first tokens now, where they have to be got."""
    try:
        await wallet.keep_fresh()
    except NoToken as error:
        raise no_token(error) from error


def no_token(error: NoToken) -> CommandFailed:
    hint = "is --authority right? `assay authority` gives out tokens for development"
    return CommandFailed(ExitCode.INCOMPLETE, str(error), hint)

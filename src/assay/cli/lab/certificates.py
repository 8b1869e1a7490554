"""The certificates to meet a server with, from the command line."""

from __future__ import annotations

import argparse
from typing import Final

from assay.cli.exit_code import CommandFailed, ExitCode
from assay.lab.harness.links.identity import BadIdentity, Identity

OPTIONS: Final = ("ca", "client_cert", "client_key")


def identity_of(options: argparse.Namespace) -> Identity:
    """
    Raises:
        CommandFailed: a file cannot be used, or there is nobody to show it to.
    """
    ca, cert, key = (getattr(options, name) for name in OPTIONS)
    if not (ca or cert or key):
        return Identity()
    if not (options.url or "").startswith(("https:", "wss:")):
        problem = "certificates are for a server on https:// or wss://, and there is none"
        raise CommandFailed(ExitCode.USAGE, problem, "give its --url, or leave them out")
    if key and not cert:
        raise CommandFailed(ExitCode.USAGE, "--client-key is of no use without --client-cert")
    identity = Identity(ca, cert, key)
    try:
        identity.context()
    except BadIdentity as error:
        raise CommandFailed(
            ExitCode.USAGE, str(error), "the files are PEM; --client-key names the key"
        ) from error
    return identity

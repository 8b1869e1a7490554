"""Make a pair of Ed25519 keys to sign evidence with.

examples:
  assay keygen dev          writes dev.key (keep it secret) and dev.pub (for everyone who verifies)
  assay keygen keys/dev     the same in an existing directory

Prints the id of the key, the SHA-256 of the public one. An existing file is never overwritten.

exit codes:
  0 written, 2 wrong usage or a file exists
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from assay.cli.output.stream import emit
from assay.model.error import MissingExtra

from .exit_code import CommandFailed, ExitCode
from .parser import Parser

SUMMARY = "make a pair of keys to sign evidence with"
GROUP = "certify"
USAGE = "NAME"


def configure(parser: Parser) -> None:
    parser.add_argument("name", metavar="NAME", help="the files are NAME.key and NAME.pub")


def execute(options: argparse.Namespace) -> int:
    if find_spec("cryptography") is None:
        raise MissingExtra('keys need cryptography, which is not installed: pip install "assay-mcp[certify]"')
    from assay.signing.keys import PUBLIC_ENDING, SIGNING_ENDING, BadKey, generate, write_pair

    if not options.name or options.name.endswith(("/", SIGNING_ENDING, PUBLIC_ENDING)):
        problem = f"not a name for a pair of keys: {options.name!r}"
        raise CommandFailed(ExitCode.USAGE, problem, "give it without an ending, as in `assay keygen dev`")
    key = generate()
    try:
        signing, public = write_pair(key, options.name)
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    emit(f"{signing}  keep it secret\n{public}  for everyone who verifies\nkey id {key.public.id}\n")
    return ExitCode.OK

"""Make a pair of Ed25519 keys to sign evidence with.

  assay keygen dev          writes dev.key (keep it to yourself) and dev.pub (give it to whoever verifies)
  assay keygen keys/dev     the same in a directory that is there

Prints the id of the key, which is the SHA-256 of the public one. A file that is there is never overwritten.

Exit codes: 0 written, 2 usage or a file is in the way.
"""

from __future__ import annotations

import argparse
from importlib.util import find_spec

from .exit_code import CommandFailed, ExitCode
from .output import emit

SUMMARY = "make a pair of keys to sign evidence with"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the files are NAME.key and NAME.pub")


def execute(options: argparse.Namespace) -> int:
    if find_spec("cryptography") is None:
        problem = "keys need cryptography, which is not installed"
        raise CommandFailed(ExitCode.USAGE, problem, 'pip install "assay-mcp[certify]"')
    from assay.signing.keys import PUBLIC_ENDING, SIGNING_ENDING, BadKey, generate, write_pair

    if not options.name or options.name.endswith(("/", SIGNING_ENDING, PUBLIC_ENDING)):
        problem = f"no name for a pair of keys: {options.name!r}"
        raise CommandFailed(ExitCode.USAGE, problem, "give it without an ending, as in `assay keygen dev`")
    key = generate()
    try:
        signing, public = write_pair(key, options.name)
    except BadKey as error:
        raise CommandFailed(ExitCode.USAGE, str(error)) from error
    emit(f"{signing}  keep it to yourself\n{public}  for whoever verifies\nkey id {key.public.id}\n")
    return ExitCode.OK

"""Verify a bundle of evidence offline, with keys that the verifier brings."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

from assay.certify.extra import require_certify, require_verify
from assay.certify.options import VerifyOptions
from assay.lab.error import CannotJudge, InvalidOptions
from assay.signing.dsse import Role, Trust
from assay.signing.keys import BadKey, read_public_key

from .procedure import CannotRead, VerificationReport
from .procedure import verify as run_steps


async def verify(bundle: Path, options: VerifyOptions) -> VerificationReport:
    """Verify the bundle in a directory.

    Raises:
        InvalidOptions: a file is not a public key.
        CannotJudge: the bundle cannot be read.
        MissingExtra: a library is not installed.
    """
    (require_certify if options.rejudge else require_verify)()
    return await asyncio.to_thread(_verify, bundle, options)


def _verify(bundle: Path, options: VerifyOptions) -> VerificationReport:
    try:
        return run_steps(
            bundle,
            _trust(options),
            now=options.now or datetime.now(UTC),
            max_age=options.max_age,
            artifact=options.artifact,
            rejudge=options.rejudge,
        )
    except CannotRead as error:
        raise CannotJudge(str(error)) from error


def _trust(options: VerifyOptions) -> Trust:
    keys = [(path, Role.DEVELOPER) for path in options.trust]
    keys += [(path, Role.HARNESS) for path in options.trust_harness]
    try:
        return Trust([(read_public_key(path), role) for path, role in keys])
    except BadKey as error:
        raise InvalidOptions(str(error)) from error

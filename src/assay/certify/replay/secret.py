"""Secrets in a recording: those that are known are replaced, and a recording with others is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Final

from assay.lab.error import CannotStore
from assay.lab.harness.trace.recorder import Redaction
from assay.lab.harness.trace.trace import Trace

_NAME: Final = re.compile(r"(?i)(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|KEY|APIKEY|PAT)(_|$)")
"""Names of environment variables whose values are taken for secrets."""
_PATTERNS: Final[Mapping[str, re.Pattern[bytes]]] = {
    "a private key": re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a JSON Web Token": re.compile(rb"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    "a GitHub token": re.compile(rb"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{40,})"),
    "an AWS access key": re.compile(rb"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    "an API key": re.compile(rb"\bsk-[A-Za-z0-9_-]{32,}"),
    "a Slack token": re.compile(rb"\bxox[abpors]-[A-Za-z0-9-]{10,}"),
}


def learn_secrets(redaction: Redaction, environment: Mapping[str, str] = os.environ) -> None:
    """Redact the values of environment variables whose names say that they are secret."""
    for name, value in environment.items():
        if _NAME.search(name):
            redaction.learn(value)


def refuse_secrets(trace: Trace, name: str) -> None:
    """
    Raises:
        CannotStore: a frame holds what looks like a secret.
    """
    for frame in trace.frames:
        for kind, pattern in _PATTERNS.items():
            if pattern.search(frame.raw):
                problem = f"nothing was written: frame {frame.n} of {name} holds what looks like {kind}"
                fix = "set it in an environment variable such as MY_TOKEN, whose value is then replaced"
                raise CannotStore(problem, fix)

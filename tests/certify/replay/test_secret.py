"""Secrets are replaced if they are known, and a recording with others is not written."""

from __future__ import annotations

import pytest

from assay.certify.replay.secret import learn_secrets, refuse_secrets
from assay.lab.error import CannotStore
from assay.lab.harness.trace.recorder import Redaction
from tests.lab.traces import request, result, stdio_trace


def test_values_of_variables_that_are_named_as_secrets_are_replaced() -> None:
    redaction = Redaction()
    learn_secrets(
        redaction, {"MY_API_KEY": "abcdefgh1", "KEYBOARD": "qwertzui2", "DB_PASSWORD": "hunter2hunter2"}
    )
    assert redaction.string("abcdefgh1 qwertzui2 hunter2hunter2") == "[redacted] qwertzui2 [redacted]"


@pytest.mark.parametrize(
    "secret",
    [
        "-----BEGIN EC PRIVATE KEY-----",
        "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlMTIz",
        "ghp_" + "a1" * 18,
        "AKIA" + "A1B2C3D4E5F6G7H8",
        "sk-" + "a1" * 20,
        "xoxb-1234567890-abcdef",
    ],
)
def test_what_looks_like_a_secret_is_refused(secret: str) -> None:
    trace = stdio_trace((">", request(1, "ping")), ("<", result(1, text=f"is {secret}.")))
    with pytest.raises(CannotStore, match=r"frame 1 of x\.ndjson holds what looks like an?"):
        refuse_secrets(trace, "x.ndjson")


def test_ordinary_text_is_not_refused() -> None:
    refuse_secrets(stdio_trace((">", request(1, "ping")), ("<", result(1, text="sk-short, AKIA, eyJ"))), "x")

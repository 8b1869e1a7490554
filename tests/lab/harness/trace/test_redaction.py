"""Secrets learned during a recording are redacted from then on, like those known at the start."""

from assay.lab.harness.trace.redaction import Redaction


def test_a_secret_is_replaced_from_when_it_is_learned() -> None:
    redaction = Redaction(["known-from-the-start"])
    redaction.learn("learned-later")
    redaction.learn("learned-later-and-longer")
    text = b"known-from-the-start learned-later-and-longer learned-later"
    assert redaction.text(text) == b"[redacted] [redacted] [redacted]"


def test_secret_too_short_to_be_unique_is_not_replaced() -> None:
    redaction = Redaction()
    redaction.learn("ping")
    assert redaction.text(b"ping") == b"ping"

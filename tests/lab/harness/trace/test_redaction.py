"""Secrets that are learned on the way are replaced from then on, like those that were known before."""

from assay.lab.harness.trace.redaction import Redaction


def test_a_secret_is_replaced_from_when_it_is_learned() -> None:
    redaction = Redaction(["known-from-the-start"])
    redaction.learn("learned-on-the-way")
    redaction.learn("learned-on-the-way-and-longer")
    said = b"known-from-the-start learned-on-the-way-and-longer learned-on-the-way"
    assert redaction.text(said) == b"[redacted] [redacted] [redacted]"


def test_what_is_too_short_to_be_told_apart_stays() -> None:
    redaction = Redaction()
    redaction.learn("ping")
    assert redaction.text(b"ping") == b"ping"

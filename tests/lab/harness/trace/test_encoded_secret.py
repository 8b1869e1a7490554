"""A secret is found in every encoding that a server may echo it in, at a bounded cost."""

import base64
import re
import time
from collections.abc import Callable
from hashlib import sha256
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.lab.harness.trace.encoded_secret import MOST, EncodedSecrets
from assay.lab.harness.trace.frame import Header, Kind, Sender
from assay.lab.harness.trace.recorder import Recorder, Redaction

SECRET = "p?ss~wörd>>of/the=client"
DATA = SECRET.encode()
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "base64": base64.b64encode,
    "base64 without padding": lambda data: base64.b64encode(data).rstrip(b"="),
    "base64url": base64.urlsafe_b64encode,
    "base64url without padding": lambda data: base64.urlsafe_b64encode(data).rstrip(b"="),
    "hexadecimal": lambda data: data.hex().encode(),
    "upper case hexadecimal": lambda data: data.hex().upper().encode(),
    "percent": lambda data: quote(data, safe="").encode(),
    "percent in lower case": lambda data: re.sub(
        rb"%..", lambda match: match[0].lower(), quote(data, safe="/").encode()
    ),
    "percent for every byte": lambda data: b"".join(b"%%%02X" % byte for byte in data),
}


def secrets_of(*secrets: str) -> EncodedSecrets:
    encoded = EncodedSecrets()
    for secret in secrets:
        encoded.learn(secret.encode())
    return encoded


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("lead", [b"", b"x", b"xy", b"xyz", b"Bearer "])
@pytest.mark.parametrize("tail", [b"", b"\xff", b"zz"])
def test_secret_is_found_in_every_encoding_and_place(name: str, lead: bytes, tail: bytes) -> None:
    text = b'{"seen":"' + ENCODINGS[name](lead + DATA + tail) + b'"}'
    clean = Redaction([SECRET]).text(text)
    assert clean.startswith(b'{"seen":"') and clean.endswith(b'"}') and clean.count(b"[redacted]") == 1
    rest = clean.removeprefix(b'{"seen":"').removesuffix(b'"}').replace(b"[redacted]", b"")
    assert len(rest) <= 3 * len(lead + tail)  # only what surrounds the secret is left


@given(st.integers(8, 32), st.binary(max_size=20), st.binary(max_size=20))
def test_no_bit_of_a_secret_is_left_in_base64(length: int, lead: bytes, tail: bytes) -> None:
    encoded, secret = EncodedSecrets(), sha256(DATA).digest()[:length]
    encoded.learn(secret)
    clean = encoded.replaced(base64.b64encode(lead + secret + tail), b"!")
    before, after = clean.split(b"!")[0], clean.split(b"!")[-1]
    assert b"!" in clean
    assert len(before) * 6 <= len(lead) * 8 and len(after.rstrip(b"=")) * 6 <= len(tail) * 8 + 4


def test_several_secrets_and_places_are_replaced() -> None:
    first, second = "first-secret-of-all", "second-secret-of-all"
    text = b" ".join(base64.b64encode(word.encode()) for word in (first, second, first))
    assert secrets_of(first, second).replaced(text, b"!") == b"! ! !"


@given(st.binary(max_size=300))
def test_other_text_stays_as_it_is(raw: bytes) -> None:
    assert secrets_of(SECRET).replaced(raw, b"!") == raw


def test_frames_standard_error_and_annotations_are_clean() -> None:
    recorder = Recorder(Header("any", "stdio", "subject", "scenario"), Redaction([SECRET]))
    echo = base64.b64encode(DATA)
    recorder.record(Sender.SUBJECT, "1/lines", Kind.LINE, b"got " + echo)
    recorder.record(Sender.SUBJECT, "1/errors", Kind.ERRORS, b"got " + DATA.hex().encode())
    recorder.record(Sender.SUBJECT, "1/ws", Kind.CONTROL, reason=f"got {echo.decode()}")
    line, errors, control = recorder.trace(closed=True).frames
    assert (line.raw, errors.raw) == (b"got [redacted]", b"got [redacted]")
    assert control.info == {"reason": "got [redacted]"}


def test_newest_secrets_are_looked_for() -> None:
    secrets = [f"secret number {number}" for number in range(MOST + 1)]
    encoded = secrets_of(*secrets)
    assert encoded.replaced(base64.b64encode(secrets[-1].encode()), b"!") == b"!"
    assert encoded.replaced(base64.b64encode(secrets[0].encode()), b"!") != b"!"


def test_cost_is_that_of_a_few_searches() -> None:
    encoded, size = secrets_of(*(f"secret-number-{number:04}-of-many" for number in range(MOST))), 1_000_000
    for raw in (b"%41" * (size // 3), b"c2Vj" * (size // 4), b"7365" * (size // 4), b"x" * size):
        begin = time.process_time()
        assert encoded.replaced(raw, b"!") == raw
        assert time.process_time() - begin < 3.0

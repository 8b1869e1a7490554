"""What is wrong with content blocks: what a block says of itself is taken at its word."""

from base64 import b64encode
from typing import Any

import pytest

from assay.lab.everything.content import (
    blocks_problem,
    contents_problem,
    image_problem,
    resource_problem,
    text_problem,
    wav_problem,
)

PNG = b64encode(b"\x89PNG\r\n\x1a\n and so on").decode()
WAV = b64encode(b"RIFF\x00\x00\x00\x00WAVEfmt ").decode()
TEXT = {"uri": "test://a", "mimeType": "text/plain", "text": "a"}


@pytest.mark.parametrize(
    ("block", "sound"),
    [
        ({"data": PNG, "mimeType": "image/png"}, True),
        ({"data": PNG, "mimeType": "IMAGE/PNG"}, True),
        ({"data": PNG, "mimeType": "image/x-of-the-future"}, True),
        ({"data": PNG, "mimeType": "image/jpeg"}, False),
        ({"data": PNG}, False),
        ({"data": "", "mimeType": "image/png"}, False),
        ({"data": "not base64!", "mimeType": "image/png"}, False),
        ({"data": 7, "mimeType": "image/png"}, False),
    ],
)
def test_image_is_what_it_calls_itself(block: dict[str, Any], sound: bool) -> None:
    assert (image_problem(block) is None) is sound


@pytest.mark.parametrize(
    ("block", "sound"),
    [
        ({"data": WAV, "mimeType": "audio/wav"}, True),
        ({"data": WAV, "mimeType": "audio/x-wav"}, False),
        ({"data": PNG, "mimeType": "audio/wav"}, False),
    ],
)
def test_sound_is_wav(block: dict[str, Any], sound: bool) -> None:
    assert (wav_problem(block) is None) is sound


@pytest.mark.parametrize(
    ("contents", "sound"),
    [
        (TEXT, True),
        ({**TEXT, "uri": "a"}, False),
        ({**TEXT, "mimeType": None}, False),
        ({**TEXT, "text": " "}, False),
        ({"uri": "test://a", "mimeType": "image/png", "blob": PNG}, True),
        ({"uri": "test://a", "mimeType": "image/png", "blob": "?"}, False),
    ],
)
def test_resource_says_where_and_what_it_is(contents: dict[str, Any], sound: bool) -> None:
    assert (contents_problem(contents) is None) is sound
    assert (resource_problem({"resource": contents}) is None) is sound


def test_resource_block_without_a_resource_is_a_problem() -> None:
    assert resource_problem({"resource": "test://a"}) == "a block without `resource`"


def test_every_kind_that_is_wanted_is_there_and_all_of_them_are_sound() -> None:
    wanted = {"text": text_problem, "image": image_problem}
    text, image = {"type": "text", "text": "a"}, {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert blocks_problem([text, image], wanted) is None
    assert blocks_problem([text], wanted) == "no block of type image among: 'text'"
    assert blocks_problem([text, image, {"type": "text", "text": ""}], wanted) == "the text ''"

"""A process that was started before a client takes it over."""

from __future__ import annotations

import os

import pytest

from assay import Client, ConnectionFailed, Stdio
from tests.client.everything import python
from tests.client.scripted import process


async def test_the_first_client_takes_the_process_that_was_started() -> None:
    target = process("for message in messages():\n    answer(message, {'pid': os.getpid()})")
    target.start()
    async with Client(target) as client:
        first = (await client.request("who/are/you"))["pid"]
        assert target.take_started() is None
    async with Client(target) as client:
        assert (await client.request("who/are/you"))["pid"] != first


def test_a_process_that_no_client_takes_is_ended() -> None:
    target = python("-c", "import time; time.sleep(60)")
    target.start()
    started = target.take_started()
    assert started is not None
    target._started = started
    target.end_started()
    target.end_started()  # again does nothing
    assert started.returncode is not None
    with pytest.raises(ProcessLookupError):
        os.kill(started.pid, 0)


async def test_a_program_that_cannot_be_started_is_the_error_of_the_client() -> None:
    target = Stdio("no-such-program")
    target.start()
    with pytest.raises(ConnectionFailed, match="no-such-program was not found"):
        async with Client(target):
            pass

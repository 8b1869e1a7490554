"""Programs of `interop` end with an exit code and without a traceback."""

import argparse
import asyncio
import os
import signal

import pytest

from interop.exit_code import check_names, exit_code, stop_on_request
from interop.official import Aborted, Exit

DOWN = Aborted(Exit.SERVER_DID_NOT_START, "it is down")
Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    "error", [DOWN, ExceptionGroup("", [ExceptionGroup("", [DOWN])])], ids=["alone", "in groups"]
)
def test_what_went_wrong_is_one_line(error: Exception, capsys: Output) -> None:
    def fail() -> int:
        raise error

    assert exit_code(fail) == Exit.SERVER_DID_NOT_START
    assert capsys.readouterr().err == "error: it is down\n"


def test_a_request_to_stop_cancels_the_work(capsys: Output) -> None:
    async def work() -> int:
        stop_on_request()
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.Event().wait()
        return Exit.CONFORMS

    assert exit_code(lambda: asyncio.run(work())) == Exit.INTERRUPTED
    assert capsys.readouterr().err == ""


def test_an_unexpected_exception_is_not_hidden() -> None:
    with pytest.raises(ZeroDivisionError):
        exit_code(lambda: 1 // 0)


def test_an_unknown_name_is_refused(capsys: Output) -> None:
    parser = argparse.ArgumentParser(prog="x")
    check_names(parser, ["a"], ["a", "b"], "server")
    with pytest.raises(SystemExit):
        check_names(parser, ["a", "c"], ["a", "b"], "server")
    assert capsys.readouterr().err.endswith("unknown server: c; one of a, b\n")

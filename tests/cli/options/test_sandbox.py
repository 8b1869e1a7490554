"""Options of the sandbox: levels, sizes, and the command line that is run again inside."""

import argparse
from pathlib import Path

import pytest

from assay.cli.options.sandbox import add_sandbox, sandbox_options, size, without_sandbox
from assay.sandbox import Level, Limits


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_sandbox(parser.add_argument_group())
    return parser.parse_args(words)


def test_without_the_option_there_is_no_sandbox() -> None:
    assert sandbox_options(parsed()) is None


@pytest.mark.parametrize(("words", "level"), [((), None), (("L2",), Level.L2), (("L3",), Level.L3)])
def test_a_level_may_be_named(words: tuple[str, ...], level: Level | None) -> None:
    options = sandbox_options(parsed("--sandbox", *words))

    assert options is not None and options.level is level


def test_what_the_server_gets_is_named() -> None:
    words = ("--sandbox", "--sandbox-read", "/data", "--sandbox-env", "TOKEN", "--sandbox-memory", "2g")

    options = sandbox_options(parsed(*words))

    assert options is not None
    assert (options.read, options.env) == ((Path("/data"),), ("TOKEN",))
    assert options.limits == Limits(memory=2 * 1024**3)


def test_a_word_that_is_not_a_level_is_refused_with_the_way_to_write_it() -> None:
    with pytest.raises(argparse.ArgumentError, match="put --sandbox after the other words"):
        parsed("--sandbox", "server.py")


@pytest.mark.parametrize(("text", "number"), [("64m", 64 * 1024**2), ("1 GiB", 1024**3), ("33554432", 2**25)])
def test_a_size_has_a_unit(text: str, number: int) -> None:
    assert size(text) == number


@pytest.mark.parametrize("text", ["", "lots", "1t", "-1g", "1k", "0"])
def test_a_size_that_is_none_or_too_small_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        size(text)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("server.py --sandbox", "server.py"),
        ("--sandbox L3 server.py --port 0", "server.py --port 0"),
        ("server.py --sandbox=L2 --sandbox-env A --sandbox-read=/x --strict", "server.py --strict"),
        ("server.py --sandbox -- --sandbox --sandbox-env B", "server.py -- --sandbox --sandbox-env B"),
    ],
)
def test_the_command_inside_has_no_options_of_the_sandbox(line: str, expected: str) -> None:
    assert without_sandbox(line.split()) == expected.split()

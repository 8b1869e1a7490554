"""Call the function that a target names and that returns the server: `file.py:make_server -- --db x`."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence

from assay import Server
from assay.cli.exit_code import CommandFailed, ExitCode

from .failure import describe_failure


def call_factory(factory: Callable[..., object], name: str, arguments: Sequence[str] | None) -> Server:
    """Call a factory, which may be a coroutine function. If it takes a parameter, it gets the arguments after
    `--` as a list; without `--`, only a parameter without default gets one, which is empty.

    Raises:
        CommandFailed: it takes other parameters, fails, or returns something else.
    """
    parameters = _parameters(factory, name, arguments)
    try:
        with contextlib.redirect_stdout(sys.stderr):
            server = factory(*parameters)
            if inspect.isawaitable(server):
                server = asyncio.run(_wait_for(server))
    except SystemExit as ended:
        if not ended.code:
            raise  # the factory has shown its help
        raise _failed(name, ended) from ended
    except Exception as error:
        raise _failed(name, error) from error
    if not isinstance(server, Server):
        problem = f"{name} returned {type(server).__name__}, not a Server"
        raise CommandFailed(ExitCode.NOT_STARTED, problem, "end the function with `return server`")
    return server


def _parameters(
    factory: Callable[..., object], name: str, arguments: Sequence[str] | None
) -> list[list[str]]:
    if isinstance(factory, type):
        hint = "create one, `server = …`, or name a function that returns one"
        raise CommandFailed(ExitCode.USAGE, f"{name} is a class, not a Server", hint)
    signature = inspect.signature(factory)
    choices: list[list[list[str]]] = [[], [list(arguments or ())]]
    for choice in choices if arguments is None else reversed(choices):
        with contextlib.suppress(TypeError):
            signature.bind(*choice)
            return choice
    problem = f"{name}{signature} cannot be called: it must take nothing, or one list of arguments"
    hint = f"write `def {name}(arguments: list[str]) -> Server`; the list has what follows `--`"
    raise CommandFailed(ExitCode.USAGE, problem, hint)


async def _wait_for(server: Awaitable[object]) -> object:
    return await server


def _failed(name: str, error: BaseException) -> CommandFailed:
    problem = f"{name} failed: {describe_failure(error)}"
    return CommandFailed(ExitCode.NOT_STARTED, problem, "`--traceback` shows the whole traceback")

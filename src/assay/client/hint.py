"""What to write instead of a mistake, for those who know other clients of MCP."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, NoReturn

import msgspec

from assay.model.notice import LEVELS
from assay.model.other_name import OtherName

HOST: Final = r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(/\S*)?|[\w-]+:\d+(/\S*)?"
LOCAL: Final = ("localhost", "127.")
INTERPRETERS: Final = {".py": "sys.executable", ".js": "'node'"}
OPTIONS_OF_OTHERS: Final = {
    **dict.fromkeys(("log_handler", "logging_callback"), "on_log="),
    **dict.fromkeys(("sampling_handler", "sampling_callback"), "sampling="),
    **dict.fromkeys(("elicitation_handler", "elicitation_callback"), "elicitation="),
    **dict.fromkeys(("init_timeout", "read_timeout_seconds", "sse_read_timeout"), "timeout="),
    "message_handler": "on_change=",
    "progress_handler": "call_tool(…, progress=…)",
    "list_roots_callback": "roots=",
    "client_info": "name= and version=",
    "transport": "the target: a URL, Stdio(…) or a Server",
    "verify": "tls=",
}
CALL_OPTIONS_OF_OTHERS: Final = {
    **dict.fromkeys(("progress_handler", "progress_callback"), "progress="),
    **dict.fromkeys(("raise_on_error",), "check="),
    **dict.fromkeys(("read_timeout_seconds", "timeout_seconds"), "timeout="),
}
KINDS: Final = {"str": "a text", "Mapping": "a dict", "SSLContext": "ssl.create_default_context(cafile=…)"}
"""What errors call a type."""
BY_NAME: Final = "pass arguments by name, {0}(…, key=value){1}"


class NamesOfOthers:
    """Methods and options of fastmcp's client and of the official SDK's."""

    if not TYPE_CHECKING:

        def __new__(cls, *arguments, **options):
            for name in OPTIONS_OF_OTHERS.keys() & options.keys():
                raise TypeError(f"{cls.__name__} has no option {name}=: here it is {OPTIONS_OF_OTHERS[name]}")
            return super().__new__(cls)

        session = OtherName("every request is a method of the client; others are request(method, params)")
        set_roots = OtherName("here it is Client(…, roots=…)")
        list_tools = OtherName("here it is tools()")
        list_resources = OtherName("here it is resources()")
        list_resource_templates = OtherName("here it is templates()")
        list_prompts = OtherName("here it is prompts()")
        read_resource = OtherName("here it is read(uri)")
        get_prompt = OtherName("here it is prompt(name, **arguments)")
        send_ping = OtherName("here it is ping()")
        initialize = OtherName("here it is open(), or `async with Client(…)`")
        is_connected = OtherName("here it is is_open")
        subscribe_resource = OtherName("here it is subscribe(uri)")
        call_tool_mcp = OtherName("here it is call_tool(name, arguments, check=False)")
        set_logging_level = OtherName("here it is Client(…, log_level=…)")
        send_roots_list_changed = OtherName("here it is roots_changed()")
        initialize_result = OtherName("here they are server_info, capabilities, instructions and revision")
        get_server_capabilities = OtherName("here it is capabilities")
        unsubscribe_resource = OtherName("leave `async with client.subscribe(uri)`")
        send_request = OtherName("here it is request(method, params)")


class NeedsAsync:
    if not TYPE_CHECKING:

        def __enter__(self) -> NoReturn:
            raise TypeError("write `async with Client(…)`, or `with SyncClient(…)` without async")

        def __exit__(self, *_: object) -> None: ...


class NeedsNoAsync:
    if not TYPE_CHECKING:

        async def __aenter__(self) -> NoReturn:
            raise TypeError("write `with SyncClient(…)`, or `async with Client(…)` in async code")

        async def __aexit__(self, *_: object) -> None: ...


def not_a_target(target: Any) -> str:
    """The text of the error for something that a client cannot connect to."""
    if isinstance(target, type):
        return f"a client connects to a server, not to the class {target.__name__}: create one"
    if isinstance(target, ModuleType):
        return f"a client connects to a Server, not to a module: pass the server in {target.__name__}"
    if isinstance(target, list | tuple) and target and all(isinstance(word, str) for word in target):
        return f"a client starts a command as {_stdio(target)}, not as a list"
    return f"a client connects to a Server, a URL, Stdio(…) or a configuration, not to {target!r}"


def not_a_url(text: str) -> str:
    """The text of the error for a text that is neither a URL nor a configuration."""
    script = script_fix(text)
    if script:
        return script
    import re

    if re.fullmatch(HOST, text, re.ASCII):
        scheme = "http" if text.startswith(LOCAL) else "https"
        return f"not a URL: {text!r}; write {f'{scheme}://{text}'!r}"
    return f"not a URL: {text!r}; write {_stdio(_words(text))} for a command"


def script_fix(path: str) -> str:
    """What to write for the path of a program; empty if it is none."""
    interpreter = INTERPRETERS.get(os.path.splitext(path)[1])
    if interpreter is None or (len(path.split()) > 1 and not os.path.exists(path)):
        return ""
    return f"a client starts a program as Stdio({interpreter}, {path!r}), not as {path!r}"


def _words(text: str) -> list[str]:
    import shlex  # not at the top: few programs make this mistake

    try:
        return shlex.split(text) or [text]
    except ValueError:  # an open quote
        return text.split()


def _stdio(words: Any) -> str:
    return f"Stdio({', '.join(map(repr, words))})"


def check_options(timeout: Any, **functions: Any) -> None:
    """
    Raises:
        TypeError, ValueError: not a timeout, or not a function.
    """
    if timeout is not None and (not isinstance(timeout, int | float) or isinstance(timeout, bool)):
        raise TypeError(f"timeout must be a number of seconds or None, not {type(timeout).__name__}")
    if timeout is not None and not timeout >= 0:
        raise ValueError(f"timeout must be 0 or more seconds: {timeout}")
    for name, function in functions.items():
        if function is not None:
            check_function(name, function)


def check_function(name: str, function: Any, values: int = 1) -> None:
    """
    Raises:
        TypeError: not a function, or not one that can be called with so many values.
    """
    if not callable(function):
        raise TypeError(f"{name} must be a function, not {type(function).__name__}")
    code = None if hasattr(function, "__self__") else getattr(function, "__code__", None)
    if code is not None and code.co_argcount == values and not code.co_kwonlyargcount:
        return  # quick, because calls have functions, too
    import inspect

    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some builtin functions have none
        return
    try:
        signature.bind(*(name for _ in range(values)))
    except TypeError:
        count = "one value" if values else "no value"
        raise TypeError(f"{name} is called with {count}, but takes {signature}") from None


def read_level(level: str | None, on_log: object) -> str | None:
    """The least level of log messages.

    Raises:
        ValueError: not a level.
    """
    if level is not None and level not in LEVELS:
        raise ValueError(f"unknown log_level {level!r}: one of {', '.join(LEVELS)}")
    return level or (None if on_log is None else "info")


def check_types(**options: tuple[Any, type]) -> None:
    """
    Raises:
        TypeError: an option is not of its type.
    """
    for name, (value, kind) in options.items():
        if value is not None and not isinstance(value, kind):
            kind_name = KINDS.get(kind.__name__, f"{kind.__name__}(…)")
            raise TypeError(f"{name} must be {kind_name}, not {type(value).__name__}")


def check_text(name: str, value: Any, fix: str) -> None:
    """
    Raises:
        TypeError: not a text.
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {type(value).__name__}: {fix}")


def refuse_positional(call: str, alternative: str = "") -> NoReturn:
    raise TypeError(BY_NAME.format(call, alternative))


def check_call(call: str, tool: Any, others: Mapping[str, Any]) -> None:
    """
    Raises:
        TypeError: an option that the call does not have, or not the name of a tool.
    """
    for name in others:
        here = CALL_OPTIONS_OF_OTHERS.get(name)
        fix = f"here it is {here}" if here else f"arguments are a dict, {call}(name, {{{name!r}: …}})"
        raise TypeError(f"{call} has no option {name}=: {fix}")
    check_text("the name of the tool", tool, "tools() returns objects with a name")


def unencodable(tool: str, arguments: Any) -> str:
    """Which argument cannot be written as JSON, and why; empty if all can."""
    if not isinstance(arguments, Mapping):
        return f"the arguments of tool {tool} must be a dict, not {type(arguments).__name__}"
    for name, value in arguments.items():
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError, OverflowError) as error:
            return f"argument {name} of tool {tool} cannot be sent as JSON: {error}"
    return ""

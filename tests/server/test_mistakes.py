"""What a mistake gets: one message that names the cause and the fix.

Each row is code as an author might write it, the cause as the message names it, and the fix.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest

BEGINNING = """
from __future__ import annotations
import asyncio
from collections.abc import Callable
from typing import Annotated, Any
from assay import *
server = Server("test")
"""


class Mistake(NamedTuple):
    source: str
    cause: str
    fix: str


MISTAKES = {
    "something that is no function": Mistake(
        "server.tool(5)", "int is not a function", "decorate a function"
    ),
    "class": Mistake(
        "@server.tool\nclass Add: ...", "Add is a class", "decorate a function, or register an instance"
    ),
    "generator": Mistake("@server.tool\ndef f():\n    yield 1", "f is a generator", "return a list"),
    "asynchronous generator": Mistake(
        "@server.tool\nasync def f():\n    yield 1", "f is a generator", "return a list"
    ),
    "*args": Mistake("@server.tool\ndef f(*args: int): ...", "f: parameter *args", "args: list[int]"),
    "**kwargs": Mistake("@server.tool\ndef f(**kwargs: int): ...", "f: parameter **kwargs", "input_schema="),
    "positional-only": Mistake(
        "@server.tool\ndef f(a: int, /): ...", "f: positional-only parameter a", "remove the /"
    ),
    "decorator that hides the signature": Mistake(
        "def wrap(f):\n    def inner(*args, **kwargs): ...\n    return inner\n"
        "@server.tool\n@wrap\ndef f(a: int): ...",
        "inner takes *args and **kwargs",
        "@functools.wraps(function)",
    ),
    "function as an argument": Mistake(
        "@server.tool\ndef f(a: Callable[[], int]): ...",
        "parameter a: Callable[[], int]",
        "such as a dataclass",
    ),
    "unknown annotation": Mistake(
        "@server.tool\ndef f(a: Nowhere): ...", "f: an annotation cannot be resolved", "import it at the top"
    ),
    "context without annotation": Mistake(
        "@server.tool\ndef f(ctx): ...", "f: parameter ctx has no annotation", "write ctx: Context"
    ),
    "two contexts": Mistake(
        "@server.tool\ndef f(a: Context, b: Context): ...", "f: a and b are both contexts", "keep one"
    ),
    "lambda": Mistake("server.tool(lambda x: x)", "'<lambda>' is not a tool name", "@server.tool(name="),
    "tool name with a space": Mistake(
        "@server.tool(name='a b')\ndef f(): ...", "'a b' is not a tool name", "@server.tool(name="
    ),
    "empty tool name": Mistake(
        "@server.tool(name='')\ndef f(): ...", "'' is not a tool name", "@server.tool(name="
    ),
    "tool twice": Mistake(
        "@server.tool\ndef f(): ...\n@server.tool(name='f')\ndef g(): ...",
        "tools already has 'f'",
        "another name, or first call tools.remove('f')",
    ),
    "resource twice": Mistake(
        "@server.resource('a://b')\ndef f(): ...\n@server.resource('a://b')\ndef g(): ...",
        "resources already has 'a://b'",
        "another URI, or first call resources.remove('a://b')",
    ),
    "prompt twice": Mistake(
        "@server.prompt\ndef f(): ...\n@server.prompt(name='f')\ndef g(): ...",
        "prompts already has 'f'",
        "another name, or first call prompts.remove('f')",
    ),
    "background work that is no coroutine": Mistake(
        "@server.background\ndef f(): ...", "background work f is not a coroutine", "write async def"
    ),
    "name of the wrong type": Mistake("Server(5)", "name is int 5, not a str", 'Server("weather")'),
    "limits of the wrong type": Mistake(
        "Server('x', limits={'depth': 3})", "limits is dict {'depth': 3}, not a Limits", "limits=Limits("
    ),
    "option of fastmcp": Mistake(
        "Server('x', stateless_http=True)", "Server has no option stateless_http", 'asgi(sessions="off")'
    ),
    "misspelt option": Mistake("Server('x', lifspan=None)", "Server has no option lifspan", "lifespan?"),
    "unknown option": Mistake("Server('x', colour='red')", "Server has no option colour", "it has title, "),
    "instructions by position": Mistake(
        "Server('x', 'Use at most 10 rows.')", "version is 'Use at most 10 rows.'", 'instructions="..."'
    ),
    "debug as a word": Mistake("Server('x', debug='0')", "debug is str '0', not a bool", "debug=True"),
    "access that is no function": Mistake(
        "Server('x', access=['ada'])", "access is list ['ada'], not a Callable", "a function of the URI"
    ),
    "page size as a word": Mistake("Server('x', page_size='5')", "page_size is str '5'", "page_size=100"),
    "capability as a word": Mistake(
        "Server('x', capabilities={'tools': 'no'})", "capability tools is 'no'", "True to declare it"
    ),
    "sealing with text": Mistake("Server('x', sealing='secret')", "sealing takes bytes", "key.encode()"),
    "sealing with texts": Mistake("Server('x', sealing=['secret'])", "sealing takes bytes", "key.encode()"),
    "unknown option of a tool": Mistake(
        "@server.tool(enabled=False)\ndef f(): ...", "a tool has no option enabled", "scopes=[...]"
    ),
    "misspelt option of a prompt": Mistake(
        "@server.prompt(titel='F')\ndef f(): ...", "a prompt has no option titel", "did you mean title?"
    ),
    "notification without a method": Mistake(
        "@server.on_notification\ndef f(): ...", "@server.on_notification needs a method", "above f"
    ),
    "arguments that are no mapping": Mistake(
        "asyncio.run(server.tools.call('add', [1]))", "arguments are [1]", "call('add', {...})"
    ),
    "request context of the SDK": Mistake(
        "@server.tool\nasync def f(ctx: Context) -> str:\n    return ctx.request_context.lifespan_context\n"
        "server.debug = True\n"
        "raise Exception(asyncio.run(server.tools.call('f')).content[0].text.splitlines()[0])",
        "no attribute 'request_context'",
        "ctx.lifespan",
    ),
    "message without a block": Mistake(
        "Message('user', 'hello')", "one content block, not str", 'Message("user", Text(...))'
    ),
    "message of the system": Mistake(
        "Message('system', Text('hello'))", "must be user or assistant", 'Message("user", Text(...))'
    ),
    "return type that is no type of JSON": Mistake(
        "@server.tool\ndef f() -> Server: ...",
        "tool f: return type: Server is not a JSON type",
        "a dataclass",
    ),
    "icons that are paths": Mistake(
        "Server('x', icons=['a.png'])", "icons must be Icon objects", "icons=[Icon("
    ),
}


@pytest.mark.parametrize(("source", "cause", "fix"), MISTAKES.values(), ids=MISTAKES)
def test_message_names_the_cause_and_the_fix(source: str, cause: str, fix: str) -> None:
    with pytest.raises(Exception) as mistake:
        exec(compile(BEGINNING + source, "server.py", "exec"), {"__name__": "server"})
    message = str(mistake.value)
    assert cause in message and fix in message
    assert len(message.splitlines()) == 1

"""What a mistake gets: one message that names the cause and the fix.

Each row is code as an author might write it, the cause as the message names it, and the fix.
"""

from __future__ import annotations

import sys
from types import ModuleType
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
    "icons that are paths": Mistake(
        "Server('x', icons=['a.png'])", "icons must be Icon objects", "icons=[Icon("
    ),
    "class that is no JSON type": Mistake(
        "class C: ...\n@server.tool\ndef f(a: C): ...",
        "f: parameter a: C is not a JSON type",
        "write a dataclass",
    ),
    "return type that is no JSON type": Mistake(
        "class C: ...\n@server.tool\ndef f() -> C: ...",
        "tool f: return type: C is not a JSON type",
        "a dataclass",
    ),
    "function as an argument": Mistake(
        "@server.tool\ndef f(a: Callable[[], int]): ...",
        "f: parameter a: Callable[[], int]",
        "a type that JSON can hold",
    ),
    "method without its object": Mistake(
        "class C:\n    @server.tool\n    def f(self, a: int): ...",
        "C.f is a method without its object",
        "C(…).f",
    ),
    "constraint without a meaning": Mistake(
        "from pydantic import Field\n@server.tool\ndef f(a: Annotated[int, Field(min_length=3)]): ...",
        "f: parameter a: Annotated[int, MinLen(min_length=3)]: min_length limits strings and containers",
        "leave it out",
    ),
    "pattern that is none": Mistake(
        "from pydantic import Field\n@server.tool\ndef f(a: Annotated[str, Field(pattern='(')]): ...",
        "f: parameter a: pattern '(' is not a regular expression",
        "escape characters",
    ),
    "Field in a Struct": Mistake(
        "import msgspec\nfrom pydantic import Field\n"
        "class Size(msgspec.Struct):\n    width: Annotated[int, Field(ge=1)]\n"
        "@server.tool\ndef f(size: Size): ...",
        "f: parameter size: Size.width",
        "write msgspec.Meta(…), or make it a dataclass or pydantic model",
    ),
    "resource without a URI": Mistake(
        "@server.resource\ndef f(): ...",
        "@server.resource needs a URI",
        '@server.resource("config://settings")',
    ),
    "resource with a path": Mistake(
        "@server.resource('notes')\ndef f(): ...", "'notes'", "write a scheme in front, as in notes://today"
    ),
    "template without a parameter": Mistake(
        "@server.resource('a://{x}')\ndef f(): ...", "f has no parameter for {x}", "add it to f, or remove"
    ),
    "parameter without a variable": Mistake(
        "@server.resource('a://b')\ndef f(x: str): ...",
        "the URI has no variable for parameter x",
        "add {x} to the URI",
    ),
    "template that is none": Mistake(
        "@server.resource('a://{x')\ndef f(x: str): ...",
        "unclosed expression",
        "write variables as in notes://{day}",
    ),
    "equal templates": Mistake(
        "@server.resource('a://{x}')\ndef f(x: str): ...\n@server.resource('a://{y}')\ndef g(y: str): ...",
        "a://{x} matches the same URIs",
        "keep one of them",
    ),
    "name by position": Mistake(
        "@server.tool('add')\ndef f(): ...", "@server.tool('add')", "@server.tool(name=...)"
    ),
    "completion without a target": Mistake(
        "@server.completion('review', 'language')\ndef f(): ...",
        "no such prompt or resource template",
        "register that first",
    ),
    "completion of another argument": Mistake(
        "@server.prompt\ndef review(code: str): ...\n@server.completion('review', 'language')\ndef f(): ...",
        "it has no argument 'language'",
        "choose from code",
    ),
    "scopes as text": Mistake(
        "@server.tool(scopes='read write')\ndef f(): ...",
        "tool f: scopes must be a list",
        "scopes=['read', 'write']",
    ),
    "concurrency of zero": Mistake(
        "@server.tool(concurrency=0)\ndef f(): ...", "concurrency", "must be at least 1"
    ),
    "input schema of a string": Mistake(
        "@server.tool(input_schema={'type': 'string'})\ndef f(**a: Any): ...",
        'must have "type": "object"',
        "have names",
    ),
    "output schema of a string": Mistake(
        "@server.tool(output_schema={'type': 'string'})\ndef f(): ...",
        'must have "type": "object"',
        "in an object",
    ),
    "unknown capability": Mistake(
        "Server('x', capabilities={'tolls': True})", "unknown capability: tolls", "tools"
    ),
    "limit of zero": Mistake("Limits(depth=0)", "limits.depth", "must be greater than zero"),
    "short sealing key": Mistake("Server('x', sealing=b'x')", "at least 16 bytes", "secrets.token_bytes(32)"),
    "unknown revision": Mistake(
        "Server('x', revisions=['2024-01-01'])", "unknown revision: '2024-01-01'", "choose from 2024-11-05"
    ),
    "no revision": Mistake(
        "Server('x', revisions=[])", "no revision would be served", "choose from 2024-11-05"
    ),
    "lifespan that is no context manager": Mistake(
        "async def life(server): ...\nServer('x', lifespan=life)",
        "lifespan life is not a context manager",
        "@contextlib.asynccontextmanager",
    ),
    "dependency that was called": Mistake(
        "def get() -> int: return 1\n@server.tool\ndef f(a: int = Depends(get())): ...",
        "Depends takes a function, not a int",
        "without calling it",
    ),
    "dependency with an open parameter": Mistake(
        "def get(x: int) -> int: return 1\n@server.tool\ndef f(a: Annotated[int, Depends(get)]): ...",
        "f: dependency get: parameter x cannot be filled in",
        "give it a default or Depends",
    ),
    "middleware that is no coroutine": Mistake(
        "@server.middleware\ndef m(call, next): ...",
        "middleware m is not a coroutine function",
        "async def m(call, next)",
    ),
    "middleware with one parameter": Mistake(
        "@server.middleware\nasync def m(call): ...", "does not take two parameters", "(call, next)"
    ),
    "middleware of an unknown method": Mistake(
        "@server.middleware('tools/cal')\nasync def m(call, next): ...",
        "no method 'tools/cal'",
        "'tools/call'",
    ),
    "notification that is a request": Mistake(
        "@server.on_notification('tools/call')\nasync def f(): ...",
        "tools/call is not a notification",
        "choose another",
    ),
    "scope of the wrong type": Mistake(
        "asyncio.run(server.handle(b'{}', scope={'principal': 1}))",
        "scope must be a Scope",
        "scope=Scope(principal=...)",
    ),
    "context outside of a call": Mistake("current_context()", "no call is being served here", "in handlers"),
    "image without content": Mistake("Image()", "Image needs either bytes or path=", "Image(path=...)"),
    "unknown transport": Mistake("server.run('htp')", "unknown transport: 'htp'", "http"),
    "transport of fastmcp": Mistake("server.run('streamable-http')", "unknown transport", 'is "http" here'),
    "transport of old": Mistake(
        "server.run('sse')", "HTTP+SSE, which Streamable HTTP replaced", 'use "http"'
    ),
    "option with a typing error": Mistake(
        "server.run('http', prot=1)", "unknown option: prot", "did you mean port?"
    ),
    "port on stdio": Mistake("server.run(port=3000)", "stdio takes no options: port", 'run("http", …)'),
    "port that is none": Mistake("server.run('http', port=99999)", "port", "from 0 to 65535"),
    "name of fastmcp's server": Mistake("server.add_tool", "add_tool", "write server.tools.add(function)"),
}


@pytest.mark.parametrize(("source", "cause", "fix"), MISTAKES.values(), ids=MISTAKES)
def test_message_names_the_cause_and_the_fix(
    source: str, cause: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("authored")
    monkeypatch.setitem(sys.modules, "authored", module)  # where annotations are looked up
    with pytest.raises(Exception) as mistake:
        exec(compile(BEGINNING + source, "authored.py", "exec"), vars(module))
    message = str(mistake.value)
    assert cause in message and fix in message
    assert len(message.splitlines()) == 1

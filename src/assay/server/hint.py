"""Names that other libraries have and Assay has not: the error names our way.

`docs/from-fastmcp.md` explains them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

_ANNOUNCED: Final = "changes of server.tools, server.resources and server.prompts are announced by themselves"
_ANSWERS: Final = "await ctx.elicit(...) returns the answer on every revision"
_COMPOSITION: Final = "register all functions on one server, or mount several servers in an ASGI application"
_ITS_LOOP: Final = 'write server.run("http"), or serve server.asgi() in an event loop of your own'
_VISIBILITY: Final = "server.tools.add and remove change the list for all clients, scopes=... for some"

CONTEXT_HINTS: Final = {
    "client_id": "write ctx.principal for the authenticated caller; ctx.meta holds what a client claims",
    "request_context": "write ctx.lifespan for its lifespan_context, else ctx.request_id, meta or scope",
    "lifespan_context": "write ctx.lifespan",
    "send_notification": "write await ctx.notify(method, params)",
    "send_tool_list_changed": _ANNOUNCED,
    "send_resource_list_changed": _ANNOUNCED,
    "send_prompt_list_changed": _ANNOUNCED,
    "input_responses": _ANSWERS,
    "request_state": _ANSWERS,
    "is_background_task": "write ctx.task_id is not None",
    "origin_request_id": "write ctx.request_id",
    "enable_components": _VISIBILITY,
    "disable_components": _VISIBILITY,
    "reset_visibility": _VISIBILITY,
    "client_extension_settings": "write ctx.client_capabilities.extensions",
    "get_http_request": "write ctx.scope.headers",
    "sample_step": "write await ctx.sample(messages, tools=[...])",
}
"""Names that a context does not have, and what to write instead."""

SERVER_HINTS: Final = {
    "add_tool": "write server.tools.add(function)",
    "remove_tool": "write server.tools.remove(name)",
    "list_tools": "write server.tools.list()",
    "get_tools": "write server.tools.list()",
    "call_tool": "write await server.tools.call(name, arguments)",
    "add_resource": "write server.resources.add(uri, function)",
    "add_template": "write server.resources.add(uri, function)",
    "list_resources": "write server.resources.list()",
    "list_resource_templates": "write server.resources.templates()",
    "read_resource": "write await server.resources.read(uri)",
    "add_prompt": "write server.prompts.add(function)",
    "list_prompts": "write server.prompts.list()",
    "get_prompt": "write await server.prompts.get(name, arguments)",
    "render_prompt": "write await server.prompts.get(name, arguments)",
    "add_middleware": "write server.use(object), or @server.middleware above an async function",
    "http_app": "write server.asgi()",
    "streamable_http_app": "write server.asgi()",
    "sse_app": "write server.asgi(); its clients use Streamable HTTP",
    "run_async": _ITS_LOOP,
    "run_http_async": _ITS_LOOP,
    "run_streamable_http_async": _ITS_LOOP,
    "run_stdio_async": "write server.run()",
    "custom_route": "mount server.asgi() in a Starlette application, and add the route there",
    "mount": _COMPOSITION,
    "import_server": _COMPOSITION,
    "name": "write server.info.name",
    "settings": "write Server(limits=Limits(...)), and pass host and port to server.run",
}
"""Names that a server does not have, and what to write instead."""


_HTTP: Final = 'pass it to server.run("http", ...) or server.asgi(...)'
_LATER: Final = "register them with the decorators of the server, or with server.tools.add(function)"

SERVER_OPTION_HINTS: Final = {
    "dependencies": "list them in your pyproject.toml",
    "host": _HTTP,
    "port": _HTTP,
    "json_response": 'write server.asgi(stream="off"), or run("http-plain")',
    "log_level": 'write logging.getLogger("assay").setLevel(...)',
    "middleware": "write server.use(object), or @server.middleware above an async function",
    "on_duplicate": "a name that is taken is always an error",
    "on_duplicate_tools": "a name that is taken is always an error",
    "stateless_http": 'write server.asgi(sessions="off")',
    "streamable_http_path": 'write server.asgi(path="/mcp")',
    "tools": _LATER,
}
"""Options of other libraries that a server does not have, and what to write instead."""

COMPONENT_OPTION_HINTS: Final = {
    "enabled": "register it when it is needed, or restrict it with scopes=[...]",
    "exclude_args": "give the parameter Depends(...), which clients do not see",
    "timeout": "write async with asyncio.timeout(...) in the function, or Server(limits=Limits(...)) for all",
}
"""The same for the options of tools and prompts."""


def check_names(place: str, options: Iterable[str], known: Collection[str], hints: Mapping[str, str]) -> None:
    """
    Raises:
        TypeError: an option does not exist; the message says what to write instead.
    """
    for option in options:
        if option not in known:
            raise TypeError(f"{place} has no option {option}: {hints.get(option) or _closest(option, known)}")


def option_names(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters that may be passed by keyword only and have a default."""
    return tuple(function.__kwdefaults__ or ())


def _closest(option: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    alike = get_close_matches(option, known, n=1)
    return f"did you mean {alike[0]}?" if alike else f"it has {', '.join(known)}"


def missing_attribute(owner: object, name: str, hints: Mapping[str, str]) -> AttributeError:
    hint = f": {hints[name]}" if name in hints else ""
    return AttributeError(
        f"{type(owner).__name__!r} object has no attribute {name!r}{hint}", name=name, obj=owner
    )


class ServerHints:
    """Base of `Server`: an attribute that it does not have under that name is an error that names ours."""

    if not TYPE_CHECKING:  # for type checkers, unknown attributes stay unknown

        def __getattr__(self, name: str) -> Any:
            raise missing_attribute(self, name, SERVER_HINTS)

"""The decorators that turn functions into tools, resources, prompts, completions and methods."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, overload

from assay.extensions.extension import Extension
from assay.model.app import ToolUi
from assay.model.content import Annotations, Icon
from assay.model.definition import ToolAnnotations
from assay.model.result import Cache
from assay.model.task import Mode, TaskOptions
from assay.server.components.completion_registry import Completions
from assay.server.components.custom_method import CustomMethods, check_owner
from assay.server.components.prompt_registry import Prompts
from assay.server.components.resource import Access
from assay.server.components.resource_registry import Resources
from assay.server.components.tool_registry import Tools
from assay.server.dispatch.method_table import MethodTables
from assay.server.dispatch.notification import Notifications
from assay.server.extensions.app_registration import AppRegistration
from assay.server.extensions.handlers import ExtensionHandlers
from assay.server.extensions.joined import Extensions
from assay.server.extensions.skill_registration import SkillRegistration

from .bare_decorator import check_argument, check_decorated
from .hint import ServerHints

F = TypeVar("F", bound=Callable[..., Any])


class Registration(SkillRegistration, AppRegistration, ServerHints):
    """Base of `Server`. Its decorators return the function unchanged and raise `RegistrationError`."""

    tools: Tools
    """The registered tools: `add`, `remove`, `list` and `call` them from code."""
    resources: Resources
    """The registered resources and templates: `add`, `remove`, `list` and `read` them from code."""
    prompts: Prompts
    """The registered prompts: `add`, `remove`, `list` and `get` them from code."""
    completions: Completions
    custom_methods: CustomMethods
    notifications: Notifications
    extensions: Extensions
    tables: MethodTables

    @overload
    def tool(self, function: F, /) -> F: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        annotations: ToolAnnotations | Mapping[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        concurrency: int | None = None,
        scopes: Sequence[str] = (),
        tags: Collection[str] = (),
        task: Mode | TaskOptions | None = None,
        ui: str | ToolUi | None = None,
    ) -> Callable[[F], F]: ...
    def tool(self, function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a tool that the client's model may call.

            @server.tool
            async def add(a: int, b: int) -> int:
                "Add two numbers."
                return a + b

        Its parameters become the input schema, its return type the output schema, and its docstring the
        description. Arguments are validated before it is called. `async def` functions run in the event loop,
        `def` functions in a thread. A parameter annotated with `Context` receives the request's context.

        Args:
            name: The name that clients use; by default that of the function.
            title: A name for people to read.
            description: What the tool does; by default the docstring without its parameter section.
            input_schema: A JSON Schema for the arguments, instead of the one from the signature.
            output_schema: A JSON Schema for the result, instead of the one from the return type.
            annotations: Hints about behaviour, such as `{"readOnlyHint": True}`.
            icons: Icons for clients to show.
            meta: The `_meta` of the tool's definition.
            concurrency: How many calls of this tool may run at once.
            scopes: Scopes that a caller needs.
            tags: Words to select it by: `{"beta"}`. Clients find them in `_meta`.
            task: Whether it runs as a task, which outlives its request: `optional`, `required`, `on_demand`,
                or `TaskOptions`. By default it never does.
            ui: The page that shows its results: the URI of one registered with `ui`, or `ToolUi`.
        """
        check_decorated("tool", function)

        def register(decorated: F) -> F:
            self.tools.add(decorated, **options)
            return decorated

        return register if function is None else register(function)

    def resource(
        self,
        uri: str,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        mime_type: str | None = None,
        size: int | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        access: Access | None = None,
        cache: Cache | None = None,
        scopes: Sequence[str] = (),
        tags: Collection[str] = (),
    ) -> Callable[[F], F]:
        """Register a function that returns the contents of a resource.

            @server.resource("notes://{day}", mime_type="text/markdown")
            async def notes(day: str) -> str: ...

        Args:
            uri: The URI, or an RFC 6570 template whose variables become arguments of the function.
            name, title, description, icons, meta, tags: As for `tool`.
            mime_type: The type of the contents; by default it follows from what the function returns.
            size: The size in bytes, if known.
            annotations: Hints for clients: audience, priority, time of the last change.
            access: Decides who may read it: a function of the URI and the `Scope`. False hides it.
            cache: How long clients may reuse the contents.
            scopes: Scopes that a caller needs. Unlike with `access`, the client learns which are missing.
        """
        check_argument("resource", uri, "a URI", '@server.resource("config://settings")')
        options: dict[str, Any] = {"name": name, "title": title, "description": description}
        options |= {"mime_type": mime_type, "size": size, "annotations": annotations, "icons": icons}
        options |= {"meta": meta, "access": access, "cache": cache, "scopes": scopes, "tags": tags}

        def register(decorated: F) -> F:
            self.resources.add(uri, decorated, **options)
            return decorated

        return register

    @overload
    def prompt(self, function: F, /) -> F: ...
    @overload
    def prompt(
        self,
        /,
        *,
        name: str | None = None,
        title: str | None = None,
        description: str | None = None,
        icons: list[Icon] | None = None,
        meta: dict[str, Any] | None = None,
        scopes: Sequence[str] = (),
        tags: Collection[str] = (),
        version: str | None = None,
    ) -> Callable[[F], F]: ...
    def prompt(self, function: F | None = None, /, **options: Any) -> F | Callable[[F], F]:
        """Register a function as a prompt that users can pick.

            @server.prompt
            async def review(code: str) -> str:
                "Ask for a code review."
                return f"Please review this code:\\n{code}"

        It returns text, content blocks, a list of `Message`, or a `PromptResult`.

        Args:
            name, title, description, icons, meta, scopes, tags: As for `tool`.
            version: The version of the prompt's text, such as `1.2.0`; published by `assay.profile`.
        """
        check_decorated("prompt", function)

        def register(decorated: F) -> F:
            self.prompts.add(decorated, **options)
            return decorated

        return register if function is None else register(function)

    def completion(self, target: str, argument: str) -> Callable[[F], F]:
        """Register a function that suggests values for an argument.

            @server.completion("review", "language")
            async def languages(value: str) -> list[str]:
                return ["Go", "Python", "Rust"]

        It may take `value`, the text so far, `arguments`, the values of other arguments, and a `Context`. It
        returns candidates, which are matched and ranked for it, or a `Completion` to be used as it is.

        Args:
            target: The name of a prompt, or the URI template of a resource.
            argument: The argument of the prompt, or the variable of the template.
        """
        check_argument(
            "completion", target, "a target and an argument", '@server.completion("review", "language")'
        )

        def register(decorated: F) -> F:
            self.completions.add(target, argument, decorated)
            self.tables.clear()
            return decorated

        return register

    def method(
        self,
        name: str,
        *,
        capability: str | None = None,
        extension: str | Extension | None = None,
        revisions: Collection[str] | None = None,
        scopes: Sequence[str] = (),
    ) -> Callable[[F], F]:
        """Register a function as a custom JSON-RPC method.

            @server.method("models/list", capability="models")
            async def list_models() -> dict[str, Any]: ...

        Its parameters are those of the request. It returns an object.

        Args:
            name: The method name; names of the protocol are reserved.
            capability: A top-level capability that announces the method.
            extension: The `Extension` that it belongs to: clients that did not declare it are refused. Or
                only a name such as `com.example/models`: it announces the method, in revisions with
                extensions.
            revisions: The dates of the revisions that have the method; by default all, or those of the
                extension.
            scopes: Scopes that a caller needs.
        """
        check_argument("method", name, "a name", '@server.method("models/list")')
        options: dict[str, Any] = {"capability": capability, "extension": extension}
        options |= {"revisions": revisions, "scopes": scopes}

        def register(decorated: F) -> F:
            self.custom_methods.add(name, decorated, **options)
            self.tables.clear()
            return decorated

        return register

    def extend(self, extension: Extension) -> None:
        """Declare an extension that has no methods, for example one that only changes results. The methods of
        an extension are registered with `method(name, extension=...)`, which declares it, too.

        Handlers ask `ctx.extension(...)` whether the client has declared it.
        """
        check_owner(extension)
        self.extensions.join(ExtensionHandlers(extension))

    def on_notification(self, method: str) -> Callable[[F], F]:
        """Register a function that is called when a client sends a notification.

            @server.on_notification("notifications/roots/list_changed")
            async def roots_changed(ctx: Context) -> None:
                roots = await ctx.roots()

        Its parameters are those of the notification, named as on the wire; a `Context` and dependencies are
        filled in. A notification may have several functions. They cannot answer: exceptions are logged. What
        the server itself does with the notification is done anyway.

        Args:
            method: The method of the notification: one of the protocol, or your own.
        """
        check_argument("on_notification", method, "a method", '@server.on_notification("orders/changed")')

        def register(decorated: F) -> F:
            self.notifications.add(method, decorated)
            return decorated

        return register

"""The client for scripts and notebooks: the same calls, without `await`."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Coroutine, Iterable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Never, Self, TypeVar, Unpack

from assay.model.client_error import ClientClosed
from assay.model.content import Contents
from assay.model.definition import (
    Implementation,
    PromptDefinition,
    ResourceDefinition,
    TemplateDefinition,
    ToolDefinition,
)
from assay.model.result import Completion, PromptResult, ToolResult

from .callback import Callback
from .client import Client
from .extension_calls import DEFAULT
from .hint import NamesOfOthers, NeedsNoAsync
from .loop_thread import LoopThread
from .options import ClientOptions
from .state import ClientState

if TYPE_CHECKING:
    from assay.model.notice import ListKind
    from assay.model.skill import LoadedSkill, Skill

    from .apps import AppPage
    from .running_call import RunningCall
    from .sync_iterator import SyncCall, SyncChanges, SyncTask
    from .target import Target

T = TypeVar("T")


class SyncClient(NamesOfOthers, NeedsNoAsync):
    """A `Client` without `await`. It runs on an event loop in a separate thread, also where another loop
    runs, as in notebooks.

        with SyncClient("https://example.com/mcp") as client:
            print(client.call("add", a=1, b=2).text)

    Handlers and callbacks are called in that thread. They must not call this client.

    Args:
        target: As for `Client`.
        **options: As for `Client`.
    """

    def __init__(self, target: Target, **options: Unpack[ClientOptions]) -> None:
        self._client = Client(target, **options)
        self._loop_thread: LoopThread | None = None

    @classmethod
    def of(cls, client: Client) -> Self:
        """The same for a client that exists and is not open, such as one of a subclass of `Client`."""
        sync = cls.__new__(cls)
        sync._client, sync._loop_thread = client, None
        return sync

    def open(self) -> Self:
        """Connect; `with` does this."""
        if self._loop_thread is not None:
            raise RuntimeError("the client is already open")
        self._loop_thread = thread = LoopThread()
        # Also if the user forgets to close it, and when the program ends.
        self._finalizer = weakref.finalize(self, _shut_down, self._client, thread)
        try:
            self._run(self._client.open())
        except BaseException:
            self._loop_thread = None
            self._finalizer.detach()
            thread.stop()
            raise
        return self

    def close(self) -> None:
        """Close the connection in bounded time, from any thread. Idempotent."""
        thread = self._loop_thread
        if thread is None:
            return
        thread.refuse_own_thread()
        try:
            self._run(self._client.close())
        except ClientClosed:
            pass  # another thread was first
        finally:
            self._loop_thread = None
            self._finalizer.detach()
            thread.stop()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        thread = self._loop_thread
        if thread is None:
            work.close()
            raise ClientClosed
        return thread.run(work)

    @property
    def is_open(self) -> bool:
        return self._client.is_open

    @property
    def state(self) -> ClientState:
        """Whether the server can be reached; see `Client.state`."""
        return self._client.state

    @property
    def servers(self) -> tuple[str, ...]:
        """The names of the servers, if the target is a configuration of several."""
        return tuple(self._client.servers)

    @property
    def revision(self) -> str:
        """The date of the protocol revision in use."""
        return self._client.revision

    @property
    def server_info(self) -> Implementation | None:
        """The server's name and version, if it says them."""
        return self._client.server_info

    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities that the server declares."""
        return self._client.capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for a model."""
        return self._client.instructions

    def roots_changed(self) -> None:
        """Notify the server that the roots have changed; see `Client.roots_changed`."""
        self._run(self._client.roots_changed())

    def tools(self, *, fresh: bool = False) -> list[ToolDefinition]:
        """All tools of the server."""
        return self._run(self._client.tools(fresh=fresh))

    def resources(self, *, fresh: bool = False) -> list[ResourceDefinition]:
        """All resources of the server, without those that only templates describe."""
        return self._run(self._client.resources(fresh=fresh))

    def templates(self, *, fresh: bool = False) -> list[TemplateDefinition]:
        """All resource templates of the server."""
        return self._run(self._client.templates(fresh=fresh))

    def prompts(self, *, fresh: bool = False) -> list[PromptDefinition]:
        """All prompts of the server."""
        return self._run(self._client.prompts(fresh=fresh))

    def call(self, name: str, /, *positional: Never, **arguments: Any) -> ToolResult:
        """Call a tool; see `Client.call`."""
        return self._run(self._client.call(name, *positional, **arguments))

    def call_as(self, expected: type[T], name: str, /, *positional: Never, **arguments: Any) -> T:
        """Call a tool and return its content as a value of this type; see `Client.call_as`."""
        return self._run(self._client.call_as(expected, name, *positional, **arguments))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
        idempotent: bool | None = None,
        **others: Never,
    ) -> ToolResult:
        """Call a tool, with options; see `Client.call_tool`."""
        work = self._client.call_tool(
            name,
            arguments,
            timeout=timeout,
            progress=progress,
            check=check,
            meta=meta,
            idempotent=idempotent,
            **others,
        )
        return self._run(work)

    def start_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
        idempotent: bool | None = None,
        **others: Never,
    ) -> SyncCall:
        """Call a tool whose progress is an iterator; see `Client.start_tool`."""
        from .sync_iterator import SyncCall

        async def start() -> RunningCall:
            return self._client.start_tool(
                name, arguments, timeout=timeout, check=check, meta=meta, idempotent=idempotent, **others
            )

        return SyncCall(self._run, self._run(start()))

    def call_task(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        ttl: float | None = None,
        timeout: float | None = DEFAULT,
        check: bool = True,
        meta: Mapping[str, Any] | None = None,
    ) -> SyncTask:
        """Call a tool as a task; see `Client.call_task`."""
        from .sync_iterator import SyncTask

        work = self._client.call_task(name, arguments, ttl=ttl, timeout=timeout, check=check, meta=meta)
        return SyncTask(self._run, self._run(work))

    def task(self, task_id: str, *, tool: str = "", check: bool = True) -> SyncTask:
        """A task that was begun earlier; see `Client.task`."""
        from .sync_iterator import SyncTask

        return SyncTask(self._run, self._client.task(task_id, tool=tool, check=check))

    def app(self, tool: ToolDefinition) -> AppPage | None:
        """The page that shows the results of a tool; see `Client.app`."""
        return self._run(self._client.app(tool))

    def listen(self, *kinds: ListKind, uris: Iterable[str] = ()) -> SyncChanges:
        """Changes of the server's lists, as an iterator; see `Client.listen`."""
        from .sync_iterator import SyncChanges

        return SyncChanges(self._run, self._client.listen(*kinds, uris=uris))

    def subscribe(self, *uris: str) -> SyncChanges:
        """Changes of resources, as an iterator; see `Client.subscribe`."""
        from .sync_iterator import SyncChanges

        return SyncChanges(self._run, self._client.subscribe(*uris))

    def read(self, uri: str, *, timeout: float | None = DEFAULT, fresh: bool = False) -> list[Contents]:
        """Read a resource."""
        return self._run(self._client.read(uri, timeout=timeout, fresh=fresh))

    def prompt(self, name: str, /, *positional: Never, **arguments: str) -> PromptResult:
        """Get a prompt, filled with its arguments."""
        return self._run(self._client.prompt(name, *positional, **arguments))

    def complete(
        self,
        argument: str,
        value: str,
        *,
        prompt: str | None = None,
        template: str | None = None,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """Suggested values for an argument; see `Client.complete`."""
        work = self._client.complete(argument, value, prompt=prompt, template=template, context=context)
        return self._run(work)

    def skills(self) -> list[Skill]:
        """The skills that the server lists; see `Client.skills`."""
        return self._run(self._client.skills())

    def skill(self, uri: str) -> Skill:
        """One skill, by the URI of its `SKILL.md`."""
        return self._run(self._client.skill(uri))

    def load_skill(self, skill: Skill) -> LoadedSkill:
        """Read a skill and compare it with its entry; see `Client.load_skill`."""
        return self._run(self._client.load_skill(skill))

    def skill_file(self, loaded: LoadedSkill, path: str) -> Contents:
        """Read a further file of a skill; see `Client.skill_file`."""
        return self._run(self._client.skill_file(loaded, path))

    def ping(self, *, timeout: float | None = DEFAULT) -> float:
        """Seconds for a request and its answer."""
        return self._run(self._client.ping(timeout=timeout))

    def request(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT,
        progress: Callback | None = None,
        idempotent: bool | None = None,
    ) -> Any:
        """Send a request of any method; see `Client.request`."""
        work = self._client.request(method, params, timeout=timeout, progress=progress, idempotent=idempotent)
        return self._run(work)


def _shut_down(client: Client, thread: LoopThread) -> None:
    with contextlib.suppress(ClientClosed, RuntimeError):
        thread.run(client.close())
    thread.stop()

"""Running a handler that has dependencies: their values before it, their clean-up after it.

With an `async def` handler, everything happens in the task of the call; `def` dependencies run in threads. A
`def` handler whose dependencies are `def`, too, runs with all of them in one thread, so that what they open
there (an SQLite connection, for example) is used and closed in the same thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

from assay.server.calls.call import Call, CallContext, Cancelled, TimedOut

from .concurrency import ConcurrencyLimit
from .invocation import Invocable
from .provider import Needs, Plan, Provider, make_plan, naming
from .signature import Signature

Contexts = dict[type[CallContext], CallContext]


def make_invocable(
    function: Callable[..., Any], signature: Signature, limits: tuple[ConcurrencyLimit, ...]
) -> Invocable:
    """
    Raises:
        RegistrationError: a dependency of the handler cannot be provided.
    """
    if not signature.dependencies:
        return Invocable(function, signature, limits)
    return InjectingInvocable(function, signature, limits)


class InjectingInvocable(Invocable):
    """A handler with dependencies."""

    __slots__ = ("_dependencies", "_in_one_thread", "_in_task", "_plan")

    def __init__(
        self, function: Callable[..., Any], signature: Signature, limits: tuple[ConcurrencyLimit, ...]
    ) -> None:
        super().__init__(function, signature, limits)
        self._dependencies = signature.dependencies
        self._plan = make_plan(self.name, self._dependencies, {})
        plain = replace(signature, context_name=None, context_type=None)
        self._in_one_thread = Invocable(self._run_in_one_thread, plain, limits)
        self._in_task = Invocable(self._run_in_task, plain, limits)

    def begin(self, arguments: dict[str, Any], call: Call) -> Any:
        overrides = call.services.dependency_overrides
        plan = make_plan(self.name, self._dependencies, overrides) if overrides else self._plan
        contexts: Contexts = {kind: kind(call) for kind in plan.context_types}
        if self.context_type is not None:
            arguments[self.context_name] = contexts.setdefault(self.context_type, self.context_type(call))
        if self.is_async or not plan.is_sync:
            prepared = {"plan": plan, "arguments": arguments, "contexts": contexts, "call": call}
            return self._in_task.begin(prepared, call)
        prepared = {"plan": plan, "arguments": arguments, "contexts": contexts}
        return self._in_one_thread.begin(prepared, call)

    async def _run_in_task(
        self, plan: Plan, arguments: dict[str, Any], contexts: Contexts, call: Call
    ) -> Any:
        async with AsyncExitStack() as stack:
            injection = Injection(contexts, call, stack)
            arguments |= await injection.values(plan.needs)
            if self.is_async:
                return await self.function(**arguments)
            return await injection.threads.run(self.name, partial(self.function, **arguments))

    def _run_in_one_thread(self, plan: Plan, arguments: dict[str, Any], contexts: Contexts) -> Any:
        with ExitStack() as stack:
            arguments |= ThreadInjection(contexts, stack).values(plan.needs)
            return self.function(**arguments)


class CallThreads:
    """Runs functions of one call in threads, and waits for them even if the call is cancelled meanwhile: they
    use what would be cleaned up otherwise."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._abandoned = False
        """Whether the server stops. A thread cannot be stopped, and must not keep the process alive."""

    async def run(self, name: str, function: Callable[[], Any]) -> Any:
        client = self._call.scope.client_key
        running = self._call.services.thread_pool.run(function, {}, client=client, name=name)
        cancellation: asyncio.CancelledError | None = None
        while not running.done() and not self._abandoned:
            try:
                await asyncio.wait([running])
            except asyncio.CancelledError as error:
                self._abandoned = cancellation is not None or not self._is_ended_by_client
                cancellation = error
        if cancellation is None and not self._abandoned:
            return running.result()
        running.add_done_callback(_retrieve)
        if cancellation is not None:
            raise cancellation
        return None

    @property
    def _is_ended_by_client(self) -> bool:
        return isinstance(self._call.ended, Cancelled | TimedOut)


def _retrieve(finished: asyncio.Future[Any]) -> None:
    """Take an exception that has become irrelevant, or asyncio would report it."""
    if not finished.cancelled():
        finished.exception()


class Injection:
    """The values of one call's dependencies. Each is created once, and cleaned up in reverse order."""

    def __init__(self, contexts: Contexts, call: Call, stack: AsyncExitStack) -> None:
        self.threads = CallThreads(call)
        self._contexts = contexts
        self._stack = stack
        self._values: dict[Provider, Any] = {}

    async def values(self, needs: Needs) -> dict[str, Any]:
        return {name: await self._value(provider) for name, provider in needs}

    async def _value(self, provider: Provider) -> Any:
        if provider not in self._values:
            arguments = {name: self._contexts[kind] for name, kind in provider.contexts}
            arguments |= await self.values(provider.needs)
            self._values[provider] = await self._open(provider, arguments)
        return self._values[provider]

    async def _open(self, provider: Provider, arguments: dict[str, Any]) -> Any:
        if not provider.yields:
            if provider.is_async:
                return await provider.function(**arguments)
            return await self._in_thread(provider, partial(provider.value, arguments))
        manager = provider.manager(arguments)
        if provider.is_async:
            with naming(provider):
                value = await manager.__aenter__()
            self._stack.push_async_exit(partial(_exit, provider, manager))
            return value
        entry = ThreadEntry(provider, manager)
        self._stack.push_async_exit(partial(self._exit_in_thread, entry))
        return await self._in_thread(provider, entry.enter)

    async def _exit_in_thread(self, entry: ThreadEntry, *error: Any) -> None:
        if entry.entered:
            await self._in_thread(entry.provider, partial(entry.exit, *error))

    async def _in_thread(self, provider: Provider, function: Callable[[], Any]) -> Any:
        return await self.threads.run(provider.name, function)


async def _exit(provider: Provider, manager: Any, *error: Any) -> None:
    # Returns nothing, so that a dependency cannot swallow the handler's exception.
    with naming(provider):
        await manager.__aexit__(*error)


class ThreadEntry:
    """A context manager that threads enter and exit. It is registered for clean-up before it is entered: a
    call can be cancelled while the thread does so."""

    __slots__ = ("_manager", "entered", "provider")

    def __init__(self, provider: Provider, manager: Any) -> None:
        self.provider = provider
        self.entered = False
        self._manager = manager

    def enter(self) -> Any:
        with naming(self.provider):
            value = self._manager.__enter__()
        self.entered = True
        return value

    def exit(self, *error: Any) -> None:
        with naming(self.provider):
            self._manager.__exit__(*error)


class ThreadInjection:
    """The same as `Injection`, within one thread."""

    def __init__(self, contexts: Contexts, stack: ExitStack) -> None:
        self._contexts = contexts
        self._stack = stack
        self._values: dict[Provider, Any] = {}

    def values(self, needs: Needs) -> dict[str, Any]:
        return {name: self._value(provider) for name, provider in needs}

    def _value(self, provider: Provider) -> Any:
        if provider not in self._values:
            arguments = {name: self._contexts[kind] for name, kind in provider.contexts}
            arguments |= self.values(provider.needs)
            self._values[provider] = self._open(provider, arguments)
        return self._values[provider]

    def _open(self, provider: Provider, arguments: dict[str, Any]) -> Any:
        if not provider.yields:
            return provider.value(arguments)
        entry = ThreadEntry(provider, provider.manager(arguments))
        value = entry.enter()
        self._stack.push(entry.exit)
        return value

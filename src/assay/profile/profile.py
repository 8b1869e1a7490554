"""The marketplace profile, as middleware of a server: `server.use(Profile())`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec
from msgspec import Struct

from assay.model.error import RegistrationError
from assay.model.result import PromptResult, ReadResult
from assay.protocol.codec import decode_params
from assay.protocol.http.asgi import Application
from assay.protocol.middleware import Host, Middleware, Serve
from assay.protocol.middleware import ServedCall as Call

from .call_recorder import CallRecorder
from .manifests import LISTS, Manifests
from .port import LedgerPort
from .resource_tag import tag, tier_of
from .retention import DEFAULT, Retention, tier_in
from .summary import Summaries, put, read_call
from .versions import Versions
from .well_known import ManifestApp


class _Target(Struct):
    name: str = ""
    uri: str = ""


_target: Final = msgspec.json.Decoder(_Target).decode
NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Profile(Middleware):
    """Makes a server conform to the profile: it tags what is read, reports effects, versions prompts and
    serves manifests. Each server needs its own.

    `retention` is the default tier: `short-30d`, `standard-365d`, `extended-730d` or `legal-hold`. `patterns`
    set it for URIs by glob, and the `meta` of a resource or tool for itself. Without `batch`, batches are
    refused also at the revision that has them. A `ledger` records tool calls, and with `log_reads` also
    resource reads.
    """

    def __init__(
        self,
        *,
        retention: str = DEFAULT,
        patterns: Mapping[str, str] = NONE,
        batch: bool = True,
        ledger: LedgerPort | None = None,
        log_reads: bool = False,
    ) -> None:
        """
        Raises:
            RegistrationError: A tier is unknown.
        """
        self._retention = Retention(retention, patterns)
        self._batch = batch
        self._recorder = None if ledger is None else CallRecorder(ledger)
        self._log_reads = log_reads
        self._joined = False
        self._around: dict[str, Callable[[Serve], Serve]] = {
            "tools/call": self._around_call,
            "resources/read": self._around_read,
            "prompts/list": self._around_prompts,
            "prompts/get": self._around_prompt,
        }

    def join(self, server: Host, /) -> None:
        """
        Raises:
            RegistrationError: The profile has a server already, or a component names an unknown tier.
        """
        if self._joined:
            raise RegistrationError("a profile belongs to one server: create another for this one")
        for registry in (
            server.tools.registry,
            server.resources.registry,
            server.resources.template_registry,
        ):
            for component in registry:
                tier_in(component.definition.meta, component.definition.name)
        self._joined, self._host = True, server
        self._versions = Versions(server)
        self._summaries = Summaries(server.tools.registry, self._retention)
        self._manifests = Manifests(server, self._retention, self._versions)
        if not self._batch:
            server.strictness = msgspec.structs.replace(server.strictness, single=True)

    def wrap(self, method: str, serve: Serve, /) -> Serve:
        around = self._around.get(method)
        return serve if around is None else around(serve)

    def publish(self, app: Application, /) -> ManifestApp:
        return ManifestApp(app, self._manifests)

    async def manifests(self) -> dict[str, bytes]:
        """The documents that HTTP serves below `/.well-known/`, by kind."""
        return {kind: await self._manifests.write(kind) for kind in LISTS}

    def _around_call(self, serve: Serve) -> Serve:
        recorder, summaries = self._recorder, self._summaries

        async def call_tool(call: Call) -> Any:
            params = read_call(call)
            if params is None:
                return await serve(call)  # which reports the error
            if recorder is not None:
                recorder.ready()
            facts = summaries.facts(params.name)
            try:
                result = await serve(call)
                summary = summaries.make(params, facts, tuple(call.effects), result.content)
            except BaseException as error:
                if recorder is not None:
                    recorder.failed(params, call, facts.retention, error)
                raise
            if recorder is not None:
                summary.ledger = recorder.invoked(params, call, summary)
            return put(summary, result)

        return call_tool

    def _around_read(self, serve: Serve) -> Serve:
        recorder = self._recorder if self._log_reads else None

        async def read(call: Call) -> ReadResult:
            if recorder is not None:
                recorder.ready()
            result = await serve(call)
            uri = decode_params(call.params, _target).uri
            result = tag(result, uri, self._host.resources, self._retention)
            if recorder is not None:
                recorder.read(uri, call, tier_of(result))
            return result

        return read

    def _around_prompts(self, serve: Serve) -> Serve:
        async def list_prompts(call: Call) -> dict[str, Any]:
            page = await serve(call)
            return {**page, "prompts": await self._versions.list(page["prompts"], call.peer.revision)}

        return list_prompts

    def _around_prompt(self, serve: Serve) -> Serve:
        async def get_prompt(call: Call) -> PromptResult:
            name = decode_params(call.params, _target).name
            prompt = self._host.prompts.registry.get(name)  # before the call, which may remove it
            result = await serve(call)
            return result if prompt is None else await self._versions.put(result, prompt, call.peer.revision)

        return get_prompt

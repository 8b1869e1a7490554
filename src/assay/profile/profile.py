"""The profile of a marketplace, as a layer around a server: `server.use(Profile())`."""

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
from assay.protocol.layer import Host, Serve
from assay.protocol.layer import LayeredCall as Call

from .manifests import LISTS, Manifests
from .port import LedgerPort
from .reading import tagged, tier_of
from .recording import Recording
from .retention import DEFAULT, Retention, tier_in
from .summary import Entry, Summaries, put, read_call
from .versions import Versions
from .well_known import Published


class _Target(Struct):
    name: str = ""
    uri: str = ""


_target: Final = msgspec.json.Decoder(_Target).decode
NONE: Final[Mapping[str, str]] = MappingProxyType({})


class Profile:
    """Makes a server keep to the profile: what is read is tagged, effects are told, prompts have versions,
    batches are refused, manifests are served. One for each server.

    `retention` is how long things may be kept unless something else is said: `short-30d`, `standard-365d`,
    `extended-730d` or `legal-hold`; `patterns` say it for URIs by glob, and the `meta` of a resource or tool
    for itself. `batch` leaves batches allowed, where a revision has them. A `ledger` takes down the calls
    of tools, and with `log_reads` what is read, too.
    """

    def __init__(
        self,
        *,
        retention: str = DEFAULT,
        patterns: Mapping[str, str] = NONE,
        batch: bool = False,
        ledger: LedgerPort | None = None,
        log_reads: bool = False,
    ) -> None:
        """
        Raises:
            RegistrationError: there is no such tier.
        """
        self._retention = Retention(retention, patterns)
        self._batch = batch
        self._recording = None if ledger is None else Recording(ledger)
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
            RegistrationError: it stands around a server already, or something there names a tier that does
                not exist.
        """
        if self._joined:
            raise RegistrationError("a profile stands around one server: make another for this one")
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

    def publish(self, app: Application, /) -> Published:
        return Published(app, self._manifests)

    async def manifests(self) -> dict[str, bytes]:
        """What HTTP tells below `/.well-known/`, by kind: for servers without it."""
        return {kind: await self._manifests.write(kind) for kind in LISTS}

    def _around_call(self, serve: Serve) -> Serve:
        recording, summaries = self._recording, self._summaries

        async def call_tool(call: Call) -> Any:
            params = read_call(call)
            if params is None:
                return await serve(call)  # which refuses it, and says why
            if recording is not None:
                recording.ready()
            known = summaries.about(params.name)
            try:
                result = await serve(call)
                summary = summaries.make(params, known, tuple(call.effects), result.content)
            except BaseException as error:
                if recording is not None:
                    recording.broken_off(params, call, known.retention, error)
                raise
            if recording is not None:
                summary.ledger = Entry(*recording.invoked(params, call, summary))
            return put(summary, result)

        return call_tool

    def _around_read(self, serve: Serve) -> Serve:
        recording = self._recording if self._log_reads else None

        async def read(call: Call) -> ReadResult:
            if recording is not None:
                recording.ready()
            result = await serve(call)
            uri = decode_params(call.params, _target).uri
            result = tagged(result, uri, self._host.resources, self._retention)
            if recording is not None:
                recording.read(uri, call, tier_of(result))
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
            prompt = self._host.prompts.registry.get(name)  # before: it may be gone after
            result = await serve(call)
            return result if prompt is None else await self._versions.put(result, prompt, call.peer.revision)

        return get_prompt

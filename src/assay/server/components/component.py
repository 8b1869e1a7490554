"""Everything that a server offers: tools, resources, prompts, completions and custom methods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from assay.model.error import INVALID_PARAMS, METHOD_NOT_FOUND, RpcError
from assay.model.limits import Limits
from assay.protocol.byte_budget import ByteBudget
from assay.protocol.codec import decode_params
from assay.server.calls.call import DirectCall
from assay.server.dispatch.notification import Notifications
from assay.server.handlers.concurrency import ConcurrencyLimit

from .completion_registry import Completions
from .custom_method import CustomMethods
from .prompt_registry import Prompts
from .registry import PagedRegistry
from .resource import Access
from .resource_registry import Resources
from .tool import Tool
from .tool_registry import Tools


class _Target(Struct):
    name: str | None = None
    uri: str | None = None


_decode_target: Final = msgspec.json.Decoder(_Target).decode


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    tools: Tools
    resources: Resources
    prompts: Prompts
    completions: Completions
    custom_methods: CustomMethods
    notifications: Notifications

    @property
    def registered(self) -> dict[str, Callable[[], bool]]:
        """For each capability, whether the server has something to offer under it."""
        return {
            "tools": lambda: self.tools.registry.used,
            "resources": lambda: self.resources.registry.used or self.resources.template_registry.used,
            "prompts": lambda: self.prompts.registry.used,
            "logging": lambda: True,
            "completions": lambda: bool(self.completions),
        }

    def scopes_of_target(self, method: str, params: Raw) -> Sequence[str]:
        """The scopes of the tool, prompt or resource that a request names; none if it cannot be found."""
        try:
            target = decode_params(params, _decode_target)
            if method in ("resources/read", "resources/subscribe"):
                return self.resources.scopes_of(target.uri)
        except RpcError:
            return ()
        if method == "tools/call":
            return self.tools.registry.scopes_of(target.name)
        return self.prompts.registry.scopes_of(target.name) if method == "prompts/get" else ()


def make_components(
    limits: Limits,
    budget: ByteBudget,
    *,
    page_size: int,
    access: Access | None,
    hide_unknown_tools: bool,
    on_change: Callable[[str], None],
    direct_call: DirectCall,
    on_tool: Callable[[Tool], None],
) -> Components:
    """Create the empty registries of a server.

    Args:
        limits: How many handlers run at once, and how many wait.
        budget: How many bytes messages may hold until they are handled.
        page_size: Components per page of a list.
        access: Decides which resources a caller may read.
        hide_unknown_tools: Answer calls of unknown tools like calls of unknown methods.
        on_change: Called with `tools`, `resources` or `prompts` when that list has changed.
        direct_call: Creates the call for a component that is used from code, and ends it.
        on_tool: Called with each tool before it is added.
    """
    limit = ConcurrencyLimit(limits.concurrency, limits.backlog)

    def registry(kind: str, listed_as: str) -> PagedRegistry[Any]:
        return PagedRegistry(kind, page_size, lambda: on_change(listed_as))

    unknown = METHOD_NOT_FOUND if hide_unknown_tools else INVALID_PARAMS
    tools = Tools(
        registry("tools", "tools"), limit, limits.backlog, direct_call, unknown=unknown, on_tool=on_tool
    )
    registries = (registry("resources", "resources"), registry("templates", "resources"))
    resources = Resources(registries, limit, access, direct_call)
    prompts = Prompts(registry("prompts", "prompts"), limit, direct_call)
    completions = Completions(prompts, resources, limit)
    notifications = Notifications(limit, budget)
    return Components(tools, resources, prompts, completions, CustomMethods(limit), notifications)

"""The custom methods `models/list` and `models/select`: a choice that is stored per client."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from assay import Context, RpcError, Server

from .identity import PREFIX

CAPABILITY: Final = "models"
KEY: Final = "reference.model"
INVALID_PARAMS: Final = -32602


@dataclass(frozen=True)
class Model:
    name: str
    description: str
    contextLength: int  # camel case, as on the wire


MODELS: Final = MappingProxyType(
    {
        model.name: model
        for model in (
            Model("gpt-4", "OpenAI GPT-4 (simulated)", 8192),
            Model("gpt-3.5-turbo", "OpenAI GPT-3.5 Turbo (simulated)", 4096),
            Model("claude-v2", "Anthropic Claude v2.0 (simulated)", 100_000),
        )
    }
)
DEFAULT: Final = next(iter(MODELS))


def active_model(ctx: Context) -> str:
    """The model that this client has chosen, in its session or as its principal."""
    chosen: str = ctx.session.get(KEY, DEFAULT)
    return chosen


async def list_models(ctx: Context) -> dict[str, Any]:
    return {"models": list(MODELS.values()), "active": active_model(ctx)}


async def select_model(name: str, ctx: Context) -> dict[str, str]:
    if name not in MODELS:
        raise RpcError(INVALID_PARAMS, f"unknown model: {name[:100]}", {"models": list(MODELS)})
    ctx.session[KEY] = name
    await ctx.log("info", f"active model: {name}", logger="models")
    return {"active": name}


def register(server: Server) -> None:
    declared = {"capability": CAPABILITY, "extension": PREFIX + CAPABILITY}
    server.method("models/list", **declared)(list_models)
    server.method("models/select", **declared)(select_model)

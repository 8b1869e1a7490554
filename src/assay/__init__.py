"""Assay: build MCP servers, and prove them.

The names below are the public interface. They are loaded when first used, so that importing the
package stays cheap.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from assay.model.version import VERSION

if TYPE_CHECKING:
    from assay.model.answer import Elicited as Elicited
    from assay.model.answer import Root as Root
    from assay.model.answer import Sampled as Sampled
    from assay.model.content import Annotations as Annotations
    from assay.model.content import Audio as Audio
    from assay.model.content import Contents as Contents
    from assay.model.content import EmbeddedResource as EmbeddedResource
    from assay.model.content import Icon as Icon
    from assay.model.content import Image as Image
    from assay.model.content import ResourceLink as ResourceLink
    from assay.model.content import Text as Text
    from assay.model.definition import ToolAnnotations as ToolAnnotations
    from assay.model.error import AskError as AskError
    from assay.model.error import AssayError as AssayError
    from assay.model.error import InsufficientScope as InsufficientScope
    from assay.model.error import MissingExtra as MissingExtra
    from assay.model.error import RegistrationError as RegistrationError
    from assay.model.error import ResourceNotFound as ResourceNotFound
    from assay.model.error import RpcError as RpcError
    from assay.model.error import TlsError as TlsError
    from assay.model.error import ToolError as ToolError
    from assay.model.limits import Limits as Limits
    from assay.model.result import Cache as Cache
    from assay.model.result import Completion as Completion
    from assay.model.result import Message as Message
    from assay.model.result import PromptResult as PromptResult
    from assay.model.result import ToolResult as ToolResult
    from assay.model.strictness import Strictness as Strictness
    from assay.protocol.scope import Scope as Scope
    from assay.server.context import Context as Context
    from assay.server.header import Header as Header
    from assay.server.sealer import EncryptingSealer as EncryptingSealer
    from assay.server.server import Server as Server

_HOMES = {
    "assay.model.answer": ("Elicited", "Root", "Sampled"),
    "assay.model.content": (
        "Annotations",
        "Audio",
        "Contents",
        "EmbeddedResource",
        "Icon",
        "Image",
        "ResourceLink",
        "Text",
    ),
    "assay.model.definition": ("ToolAnnotations",),
    "assay.model.error": (
        "AskError",
        "AssayError",
        "InsufficientScope",
        "MissingExtra",
        "RegistrationError",
        "ResourceNotFound",
        "RpcError",
        "TlsError",
        "ToolError",
    ),
    "assay.model.limits": ("Limits",),
    "assay.model.result": ("Cache", "Completion", "Message", "PromptResult", "ToolResult"),
    "assay.protocol.scope": ("Scope",),
    "assay.model.strictness": ("Strictness",),
    "assay.server.context": ("Context",),
    "assay.server.header": ("Header",),
    "assay.server.sealer": ("EncryptingSealer",),
    "assay.server.server": ("Server",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [  # noqa: PLE0604 - computed from the one table above
    *_HOME_OF
]
__version__ = VERSION


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(home), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""The resource server's side of OAuth: only requests with a valid access token reach the server.

`Auth` holds the settings; `Server(auth=...)` applies them on HTTP and WebSocket. Names are imported on first
use, because PyJWT and cryptography take longer to load than the rest of a server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .auth import Auth as Auth
    from .dpop import DPoP as DPoP
    from .introspection import Introspection as Introspection
    from .protected import Protected as Protected

_HOME_OF = {"Auth": "auth", "DPoP": "dpop", "Introspection": "introspection", "Protected": "protected"}

__all__ = ["Auth", "DPoP", "Introspection", "Protected"]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value

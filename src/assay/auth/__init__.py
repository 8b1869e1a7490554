"""The resource server's side of OAuth: only requests with a valid access token reach the server.

`Auth` holds the settings; `Server(auth=...)` applies them on HTTP and WebSocket. Names are imported on first
use, because PyJWT and cryptography take longer to load than the rest of a server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from .auth import Auth as Auth
    from .dpop import DPoP as DPoP
    from .introspection import Introspection as Introspection
    from .protected import Protected as Protected

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".auth": "Auth",
        ".dpop": "DPoP",
        ".introspection": "Introspection",
        ".protected": "Protected",
    },
)

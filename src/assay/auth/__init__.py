"""The resource server's side of OAuth: who may use a server, shown by tokens of an authorization server.

`Auth` says whose tokens count, `Server(auth=...)` makes them be asked for, on HTTP and WebSocket alike.
"""

from .auth import Auth as Auth
from .dpop import DPoP as DPoP
from .introspection import Introspection as Introspection
from .protected import Protected as Protected

__all__ = ["Auth", "DPoP", "Introspection", "Protected"]

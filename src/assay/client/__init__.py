"""The client: calls servers over every transport, in every revision.

    from assay.client import Client

`assay` has the same names, and those of results and errors. They are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.client.auth.oauth import OAuth as OAuth
    from assay.client.auth.service import ClientCredentials as ClientCredentials
    from assay.client.auth.service import EnterpriseAuth as EnterpriseAuth
    from assay.client.auth.service import WorkloadIdentity as WorkloadIdentity

    from .client import Client as Client
    from .retry import Retry as Retry
    from .state import ClientState as ClientState
    from .state import StateChange as StateChange
    from .sync_client import SyncClient as SyncClient
    from .target import Stdio as Stdio

_HOME_OF = {
    "Client": "client",
    "ClientCredentials": "auth.service",
    "ClientState": "state",
    "EnterpriseAuth": "auth.service",
    "OAuth": "auth.oauth",
    "Retry": "retry",
    "StateChange": "state",
    "Stdio": "target",
    "SyncClient": "sync_client",
    "WorkloadIdentity": "auth.service",
}

__all__ = [  # noqa: PLE0604 - computed from the table above
    *_HOME_OF
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{home}"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

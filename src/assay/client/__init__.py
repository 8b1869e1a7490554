"""The client: calls servers over every transport, in every revision.

    from assay.client import Client

`assay` has the same names, and those of results and errors. They are loaded when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from assay.client.auth.oauth import OAuth as OAuth
    from assay.client.auth.service import ClientCredentials as ClientCredentials
    from assay.client.auth.service import EnterpriseAuth as EnterpriseAuth
    from assay.client.auth.service import WorkloadIdentity as WorkloadIdentity

    from .client import Client as Client
    from .retry import Retry as Retry
    from .state import ClientState as ClientState
    from .state import StateChange as StateChange
    from .stdio import Stdio as Stdio
    from .sync_client import SyncClient as SyncClient

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".auth.oauth": "OAuth",
        ".auth.service": "ClientCredentials EnterpriseAuth WorkloadIdentity",
        ".client": "Client",
        ".retry": "Retry",
        ".state": "ClientState StateChange",
        ".sync_client": "SyncClient",
        ".stdio": "Stdio",
    },
)

"""The options of `Client`, for code that passes them on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from assay.client.auth.selection import Auth
    from assay.model.client_limits import ClientLimits
    from assay.transport.client.proxy import ProxyOption

    from .answer import ElicitationHandler, Roots, SamplingHandler
    from .callback import Callback
    from .retry import Retry


class ClientOptions(TypedDict, total=False):
    """`Client` documents them."""

    revision: str | None
    sampling: SamplingHandler | None
    elicitation: ElicitationHandler | None
    roots: Roots | None
    on_log: Callback | None
    log_level: str | None
    on_change: Callback | None
    timeout: float | None
    headers: Mapping[str, str] | None
    auth: Auth | None
    tls: ssl.SSLContext | None
    proxy: ProxyOption
    name: str
    version: str
    capabilities: Mapping[str, Any] | None
    apps: bool
    limits: ClientLimits | None
    check_output: bool
    retry: Retry | None
    on_state: Callback | None

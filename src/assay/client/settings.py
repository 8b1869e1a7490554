"""What the parts of a client need to know of its options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from .callback import Callback

if TYPE_CHECKING:
    from assay.model.client_limits import ClientLimits
    from assay.protocol.opening import Identity
    from assay.revisions.revision import Revision

    from .answer import Handlers
    from .change_hub import ChangeHub
    from .result_cache import ResultCache


class CallOptions(Struct, frozen=True):
    timeout: float | None = None
    progress: Callback | None = None


class Notices(Struct, frozen=True):
    """The callbacks that the user passed to `Client`."""

    on_log: Callback | None = None
    on_change: Callback | None = None
    log_level: str | None = None


class Settings(Struct, frozen=True):
    identity: Identity
    limits: ClientLimits
    handlers: Handlers
    notices: Notices
    hub: ChangeHub
    cache: ResultCache
    pinned: Revision | None = None

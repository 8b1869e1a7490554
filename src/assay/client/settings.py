"""What the parts of a client need to know of its options."""

from __future__ import annotations

from msgspec import Struct

from assay.model.client_limits import ClientLimits
from assay.protocol.opening import Identity
from assay.revisions.revision import Revision

from .answer import Handlers
from .change_hub import ChangeHub
from .incoming import Notices
from .result_cache import ResultCache


class Settings(Struct, frozen=True):
    identity: Identity
    limits: ClientLimits
    handlers: Handlers
    notices: Notices
    hub: ChangeHub
    cache: ResultCache
    pinned: Revision | None = None

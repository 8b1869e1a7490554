"""What a server keeps: ports, and one package or module per implementation.

    Server("notes", store="sqlite:///notes.db")

The public names below are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from assay.model.error import StoreAway as StoreAway
    from assay.model.error import StoreError as StoreError

    from .port import Store as Store
    from .url import open_store as open_store

__all__, __getattr__, __dir__ = lazy_names(
    globals(), {".port": "Store", ".url": "open_store", "assay.model.error": "StoreAway StoreError"}
)

"""Load and soak tests of a server: traffic of agents, latencies, and what the server used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from .options import LoadOptions as LoadOptions
    from .result import LoadResult as LoadResult
    from .result import dump_result as dump_result
    from .result import read_result as read_result
    from .run import follow_load as follow_load
    from .run import load as load

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".options": "LoadOptions",
        ".result": "LoadResult dump_result read_result",
        ".run": "follow_load load",
    },
)

"""Replay: record the conversations of a server with their seeds, and compare what it says later.

The public names below are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.model.lazy_names import lazy_names

if TYPE_CHECKING:
    from .bundle import ReplayBundle as ReplayBundle
    from .bundle import parse_bundle as parse_bundle
    from .bundle import read_bundle as read_bundle
    from .bundle import write_bundle as write_bundle
    from .comparison import Comparison as Comparison
    from .comparison import Divergence as Divergence
    from .mock_client import play_client as play_client
    from .mock_server import mock_server as mock_server
    from .mock_server import serve_http as serve_http
    from .mock_server import serve_streams as serve_streams
    from .options import RecordOptions as RecordOptions
    from .options import ReplayOptions as ReplayOptions
    from .recording import record_bundle as record_bundle
    from .replay import ReplayResult as ReplayResult
    from .replay import replay_bundle as replay_bundle
    from .seed import Seeds as Seeds

__all__, __getattr__, __dir__ = lazy_names(
    globals(),
    {
        ".bundle": "ReplayBundle parse_bundle read_bundle write_bundle",
        ".comparison": "Comparison Divergence",
        ".mock_client": "play_client",
        ".mock_server": "mock_server serve_http serve_streams",
        ".options": "RecordOptions ReplayOptions",
        ".recording": "record_bundle",
        ".replay": "ReplayResult replay_bundle",
        ".seed": "Seeds",
    },
)

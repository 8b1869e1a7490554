"""Options of replay, named as on the command line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.lab.options import Access

from .seed import Seeds

if TYPE_CHECKING:
    from assay.lab.options import Arguments
else:
    Arguments = Any  # as in `assay.lab.options`


class RecordOptions(Struct, frozen=True, kw_only=True):
    out: Path | None = None
    """The directory to write the bundle to. Default: it is only returned."""
    force: bool = False
    """Replace a bundle that is there."""
    seeds: Seeds = Seeds()
    env: tuple[str, ...] = ()
    """Names of environment variables that the server depends on; their digests are stored."""
    transport: tuple[str, ...] = ()
    """`stdio`, `http`, `http-sse` or `ws`. Default: detected, and stdio for what is started."""
    spec_version: tuple[str, ...] = ()
    """Revisions by date. Default: all that the server supports."""
    requests: Path | None = None
    """A file with the requests to send, one JSON object with `method` and `params` per line. Default: lists,
    calls, reads and prompts that fit what the server lists."""
    arguments: Arguments = {}
    """Sets of arguments for each tool, or a JSON file with them."""
    allow_effects: bool = False
    """Also call tools without `readOnlyHint`, except those with `destructiveHint`."""
    access: Access = Access()
    timeout: float = 10.0
    """Seconds to wait for one answer."""


class ReplayOptions(Struct, frozen=True, kw_only=True):
    ignore: tuple[str, ...] = ()
    """JSON Pointers of values that may differ."""
    transport: tuple[str, ...] = ()
    """Only the conversations on these transports."""
    spec_version: tuple[str, ...] = ()
    """Only the conversations at these revisions."""
    access: Access = Access()
    timeout: float = 10.0

"""`assay server --watch`."""

from __future__ import annotations

import argparse


async def watch_server(options: argparse.Namespace) -> int:
    raise NotImplementedError

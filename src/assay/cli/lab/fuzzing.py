"""`assay server --suite fuzz`."""

from __future__ import annotations

import argparse


async def fuzz_server(options: argparse.Namespace) -> int:
    raise NotImplementedError

"""Records the reference server in twenty bundles, replays each, and prints how many fixtures match.

    python -m scripts.replay_bundles

Each bundle has one transport, one revision and one seed; every conversation has a server process of its own.
"""

from __future__ import annotations

import asyncio
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from assay.certify.replay import (
    RecordOptions,
    ReplayOptions,
    Seeds,
    read_bundle,
    record_bundle,
    replay_bundle,
)
from assay.revisions.registry import REVISIONS

TRANSPORTS: Final = ("stdio", "http")
SEEDS: Final = ("heads", "tails")
QUICK: Final[dict[str, list[dict[str, Any]]]] = {"long_task": [{"seconds": 0.01}], "count": [{"to": 2}]}
PATIENCE: Final = 60.0


async def rate(directory: Path, transport: str, revision: str, seed: str) -> tuple[int, int]:
    """The fixtures of one bundle, and how many match."""
    options = RecordOptions(
        out=directory,
        seeds=Seeds(random=seed),
        transport=(transport,),
        spec_version=(revision,),
        arguments=QUICK,
        timeout=PATIENCE,
    )
    await record_bundle("reference", options)
    result = await replay_bundle(read_bundle(directory), "reference", ReplayOptions(timeout=PATIENCE))
    for conversation in result.conversations:
        for divergence in conversation.comparison.divergences:
            print(f"  {divergence.fixture}: {divergence.difference}")
    return result.pairs, result.matched


async def main() -> int:
    total = same = bundles = 0
    begin = time.process_time()
    with TemporaryDirectory() as scratch:
        for transport, revision, seed in product(TRANSPORTS, REVISIONS, SEEDS):
            directory = Path(scratch) / f"{transport}-{revision.date}-{seed}"
            pairs, matched = await rate(directory, transport, revision.date, seed)
            print(f"{transport:<6} {revision.date} seed {seed:<6} {matched} of {pairs} match", flush=True)
            total, same, bundles = total + pairs, same + matched, bundles + 1
    cpu = time.process_time() - begin
    share = f"{100 * same / total:.1f} %"
    print(f"{bundles} bundles: {same} of {total} fixtures match ({share}), {cpu:.1f} s CPU of the client")
    return 0 if same == total else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

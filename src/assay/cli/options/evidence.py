"""Evidence beside the messages: the registry's entry, directories, spans."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assay.lab.options import Evidence


def add_evidence(group: argparse._ArgumentGroup, spans: str = "receive its spans at this address") -> None:
    add = group.add_argument
    add("--registry", type=Path, metavar="FILE", help="its entry in the registry: server.json")
    observed = "directory that it may write to, compared around every call; repeatable"
    add("--observe", type=Path, action="append", default=[], metavar="DIR", help=observed)
    add("--otlp", metavar="HOST:PORT", help=spans)


def evidence_from(options: argparse.Namespace) -> Evidence:
    from assay.lab.options import Evidence

    return Evidence(registry=options.registry, observe=tuple(options.observe), otlp=options.otlp)

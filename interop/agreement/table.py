"""The tables of fixture servers and clients: package, command and revisions of each."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PEERS = ROOT / "interop" / "peers"
OWN = "assay"
"""Our own server, on which both suites are timed."""


class Fixture(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    command: list[str]
    revisions: list[str]
    package: str = ""
    """The package that its folder pins; empty for our own server."""
    rounds: int = 1
    """How often both suites run, to measure the time."""
    name: str = ""

    def version(self) -> str:
        """The pinned version; empty for our own server."""
        pins = PEERS / self.name / "requirements.txt"
        if pins.is_file():
            return dict(line.split("==") for line in pins.read_text("utf-8").splitlines())[self.package]
        manifest = PEERS / self.name / "package.json"
        if manifest.is_file():
            return str(json.loads(manifest.read_text("utf-8"))["dependencies"][self.package])
        return ""

    def line(self, places: Mapping[str, str]) -> list[str]:
        """The command with the placeholders filled in."""
        return [word.format_map(places) for word in self.command]


def fixtures(path: Path) -> dict[str, Fixture]:
    table = tomllib.loads(path.read_text("utf-8"))
    return {name: msgspec.convert({**row, "name": name}, Fixture) for name, row in table.items()}

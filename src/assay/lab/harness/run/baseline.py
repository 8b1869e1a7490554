"""Baselines: expected failures, in the YAML format of the official suite.

    server:
      - tools-call-error          # all failures of a scenario
      - ping:lifecycle.ping       # failures of one check

Scenarios are named by their ids or by their names in the official suite. An entry that no longer fails is
stale and fails the run, so a baseline can only get shorter.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay.lab.harness.naming import matches
from assay.lab.harness.scenario import Scenario
from assay.lab.harness.trace.regular_file import UnfitFile, read_regular
from assay.lab.harness.verdict import CheckResult

from .run import CellResult, Run

LARGEST = 256 * 1024


class BadBaseline(ValueError):
    """A baseline cannot be read."""


class Entry(Struct, frozen=True):
    text: str
    scenario: str
    check: str | None

    def covers(self, cell: CellResult, check: CheckResult) -> bool:
        if not matches(self.scenario, cell.scenario, cell.official):
            return False
        return self.check is None or matches(self.check, check.id)

    def names(self, scenarios: Iterable[Scenario]) -> bool:
        return any(matches(self.scenario, scenario.id, scenario.official) for scenario in scenarios)


def parse_entry(text: str) -> Entry:
    scenario, colon, check = text.partition(":")
    return Entry(text, scenario.strip(), check.strip() if colon else None)


def read_baseline(path: Path, role: str = "server") -> list[Entry]:
    """
    Raises:
        BadBaseline: the file cannot be read, or is not a baseline.
    """
    import yaml

    class Loader(yaml.SafeLoader):
        def flatten_mapping(self, node: yaml.MappingNode) -> None:
            """Nested merges (`<<`) multiply: a kilobyte would take gigabytes."""
            if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
                raise yaml.YAMLError("a baseline cannot merge mappings with <<")

    try:
        data = read_regular(path.resolve(), LARGEST)
        value: Any = yaml.load(data.decode(), Loader)
    except OSError as error:
        raise BadBaseline(f"{path}: {error.strerror or error}") from error
    except UnfitFile as error:
        raise BadBaseline(f"{path}: {error}") from error
    except RecursionError:
        raise BadBaseline(f"{path}: not YAML: nested too deeply") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadBaseline(f"{path}: not YAML: {str(error).splitlines()[0]}") from error
    return [parse_entry(text) for text in _entries(value, role, path)]


def _entries(value: Any, role: str, path: Path) -> list[str]:
    if value is None:
        return []
    if not isinstance(value, dict) or value.keys() - {"server", "client"}:
        raise BadBaseline(
            f"{path}: a baseline has the keys `server` and `client`, each with a list of scenarios"
        )
    entries = value.get(role) or []
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise BadBaseline(f"{path}: `{role}` must be a list of `scenario` or `scenario:check`")
    return entries


def relevant(
    entries: Iterable[Entry], selected: Iterable[Scenario], existing: Iterable[Scenario]
) -> list[Entry]:
    """The entries for selected scenarios. Entries that name no existing scenario remain: they are stale."""
    selected, existing = list(selected), list(existing)
    return [entry for entry in entries if entry.names(selected) or not entry.names(existing)]


class BaselineComparison(Struct, frozen=True):
    expected: list[str]
    """Entries that failed."""
    stale: list[str]


def compare(run: Run, entries: list[Entry]) -> BaselineComparison:
    met = {
        entry.text
        for cell in run.cells
        for check in cell.checks
        if check.findings  # also those that follow from others: the entry may be older than their cause
        for entry in entries
        if entry.covers(cell, check)
    }
    return BaselineComparison(sorted(met), sorted({entry.text for entry in entries} - met))


def is_expected(run: Run, cell: CellResult, check: CheckResult) -> bool:
    return any(parse_entry(text).covers(cell, check) for text in run.expected)

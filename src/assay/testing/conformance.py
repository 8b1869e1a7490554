"""The lab's scenarios as test items: `@pytest.mark.assay_conformance` and `--assay-check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from assay import MissingExtra
from assay.lab.error import LabError
from assay.lab.extra import require_lab
from assay.model.visible import visible

from .lab_option import judge_options
from .server_target import BadTarget, lab_target
from .setting import configured_server

if TYPE_CHECKING:
    from assay.lab import Run
    from assay.lab.harness.run.run import CellResult

    from .lab_run import LabRun

MARK: Final = "assay_conformance"
Place = tuple[Path, int | None]
"""A file, and a line if the item comes from one."""
UNUSABLE: Final = (LabError, MissingExtra, BadTarget)


class Nonconforming(Exception):
    """The server does not conform; the text is the finding."""


class ScenarioItem(pytest.Item):
    """One scenario, on all transports and revisions of the run."""

    def __init__(self, *, run: LabRun, scenario: str, place: Place, **options: Any) -> None:
        super().__init__(**options)
        self.run = run
        self.scenario = scenario
        self._place = place

    def runtest(self) -> None:
        items = (item for item in self.session.items if isinstance(item, ScenarioItem))
        self.run.start({item.scenario for item in items if item.run is self.run})
        try:
            part = self.run.result(self.scenario)
        except LabError as error:
            if self.run.first != self.scenario:
                pytest.skip(f"the run was not possible: see {self.run.first}")
            raise Nonconforming(str(error)) from error
        self._report(part)

    def _report(self, part: Run) -> None:
        from assay.lab import Conclusion, conclude, render
        from assay.lab.harness.subject.discovery import DISCOVERY

        conclusion = conclude(part)
        text = render(part, "text").strip()
        if conclusion is Conclusion.DOES_NOT_CONFORM or any(cell.broke_off for cell in part.cells):
            raise Nonconforming(text)
        if conclusion is not Conclusion.CONFORMS and self.scenario != DISCOVERY:
            pytest.skip(_reason(part.cells))
        self.add_report_section("call", "assay", text)
        if part.expected:
            pytest.xfail(f"expected by the baseline: {', '.join(part.expected)}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Nonconforming):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        path, line = self._place
        return path, line, self.name


def _reason(cells: Sequence[CellResult]) -> str:
    """Why nothing was proved. Options that would change it are named as the mark takes them."""
    reasons = dict.fromkeys(_as_marked(cell) for cell in cells if cell.reason)
    return "; ".join(reasons) or "the scenario does not exist on these transports and revisions"


def _as_marked(cell: CellResult) -> str:
    text = visible(cell.reason)
    for option in cell.reason_options:
        text = text.replace(option, f"{option.removeprefix('--').replace('-', '_')}=True")
    return text


def collect(collector: Any, name: str, function: Any) -> list[ScenarioItem]:
    """The items of a marked function, whose body is not run."""
    mark = next(mark for mark in function.pytestmark if mark.name == MARK)
    config = collector.config
    try:
        run = make_run(config, mark.args, mark.kwargs)
    except UNUSABLE as error:
        raise collector.CollectError(f"@pytest.mark.{MARK}: {error}") from None
    place = collector.path, function.__code__.co_firstlineno - 1
    return list(_items(collector, run, name, place, function.pytestmark))


class CheckOption:
    """`--assay-check`: the same for the configured server, beside the tests that were collected."""

    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        try:
            run = make_run(config, (), {})
        except UNUSABLE as error:
            raise pytest.UsageError(f"--assay-check: {error}") from None
        items.extend(_items(session, run, "assay-check", (config.rootpath, None)))


def _items(
    parent: Any, run: LabRun, name: str, place: Place, marks: Sequence[Any] = ()
) -> Iterator[ScenarioItem]:
    has_xdist = parent.config.pluginmanager.hasplugin("xdist")
    for scenario in run.scenarios():
        item: ScenarioItem = ScenarioItem.from_parent(
            parent, name=f"{name}[{scenario}]", run=run, scenario=scenario, place=place
        )
        item.own_markers.extend(marks)
        item.keywords.update({mark.name: mark for mark in marks})
        if has_xdist:  # each process with one of them would start another run
            item.add_marker(pytest.mark.xdist_group(f"assay {item.nodeid.partition('[')[0]}"))
        yield item


def make_run(config: pytest.Config, arguments: Sequence[Any], options: Mapping[str, Any]) -> LabRun:
    """
    Raises:
        LabError, MissingExtra, BadTarget: nothing can be judged.
    """
    if len(arguments) > 1:
        raise BadTarget("it takes one server; options are given by name")
    value = arguments[0] if arguments else configured_server(config)
    if value is None:
        settings = 'assay_server = "package.module:name" in the settings of pytest'
        raise BadTarget(
            f'no server to judge: write @pytest.mark.{MARK}("package.module:name"), or {settings}'
        )
    require_lab()
    from .lab_run import LabRun

    run = LabRun(lab_target(value), judge_options(config, options))
    config.add_cleanup(run.stop)
    return run

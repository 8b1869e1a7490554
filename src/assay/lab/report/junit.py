"""JUnit XML for CI systems: a suite for each scenario run, a case for each check."""

from __future__ import annotations

from xml.etree import ElementTree as tree

from assay.lab.harness.run.baseline import is_expected
from assay.lab.harness.run.check_entry import error_message
from assay.lab.harness.run.conclusion import conclude, counts, headline
from assay.lab.harness.run.run import CellResult, Run
from assay.lab.harness.verdict import CheckResult, Outcome, Verdict
from assay.model.visible import visible_lines


def render(run: Run) -> str:
    root = tree.Element("testsuites", name="assay", time=f"{run.seconds:.3f}")
    for cell in run.cells:
        root.append(_suite(run, cell))
    if not run.cells:
        root.append(_nothing(run))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    for element in root.iter():
        element.attrib = {name: _clean(value) for name, value in element.items()}
        element.text = element.text and _clean(element.text)
    tree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tree.tostring(root, encoding="unicode") + "\n"


def _nothing(run: Run) -> tree.Element:
    """The suite of a run without scenarios: a report without tests would count as passed."""
    suite = tree.Element("testsuite", name="assay", time="0", timestamp=run.started[:19])
    suite.attrib |= {"tests": "1", "failures": "0", "errors": "1", "skipped": "0"}
    case = tree.SubElement(suite, "testcase", name="the run judges something", classname="assay", time="0")
    tree.SubElement(case, "error", type=conclude(run).value, message=headline(run))
    return suite


def _suite(run: Run, cell: CellResult) -> tree.Element:
    name = f"{cell.scenario} [{cell.transport} {cell.revision}]"
    suite = tree.Element("testsuite", name=name, time=f"{cell.seconds:.3f}", timestamp=cell.started[:19])
    cases = [_case(run, cell, check, name) for check in cell.checks]
    if cell.broke_off:
        cases.append(_broke_off(cell, name))
    cases = cases or [_empty(cell, name)]
    suite.extend(cases)
    kinds = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    for key, kind in kinds.items():
        suite.set(key, str(sum(case.find(kind) is not None for case in cases)))
    suite.set("tests", str(len(cases)))
    return suite


def _broke_off(cell: CellResult, classname: str) -> tree.Element:
    case = tree.Element("testcase", name="the scenario reaches its end", classname=classname, time="0")
    tree.SubElement(case, "error", type="incomplete", message=cell.reason)
    return case


def _empty(cell: CellResult, classname: str) -> tree.Element:
    """The case of a scenario without checks: an empty suite would count as passed."""
    case = tree.Element("testcase", name=cell.title, classname=classname, time="0")
    known = f"{cell.outcome}: {cell.reason}" if cell.outcome is Outcome.NOT_APPLICABLE else cell.reason
    tree.SubElement(case, "skipped", message=known or cell.outcome)
    return case


def _case(run: Run, cell: CellResult, check: CheckResult, classname: str) -> tree.Element:
    case = tree.Element("testcase", name=check.id, classname=classname, time="0")
    if check.findings and counts(run, check.verdict) and not is_expected(run, cell, check):
        first = check.findings[0]
        failure = tree.SubElement(case, "failure", type=first.requirement, message=error_message(first))
        lines = [
            line
            for finding in check.findings
            for line in (error_message(finding), finding.link, *finding.excerpt)
        ]
        failure.text = "\n".join(lines)
    elif check.verdict is Verdict.SKIPPED:
        tree.SubElement(case, "skipped", message=check.reason)
    elif check.findings:
        out = tree.SubElement(case, "system-out")
        out.text = "\n".join(error_message(finding) for finding in check.findings)
    return case


def _clean(text: str) -> str:
    """XML cannot represent most control characters or lone surrogates, which this shows as text."""
    return visible_lines(text)

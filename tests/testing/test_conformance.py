"""Scenarios of the lab as test items: what is collected, what fails and with which text."""

import sys
import threading

import pytest

import assay.lab.suites
import assay.testing.conformance
import assay.testing.lab_run
from assay.lab import InvalidOptions
from tests.testing.project import SERVER, run, text

pytest_plugins = ("pytester",)
# Loaded once, instead of in each of the inner runs.
assay.lab.suites.protocol_suite()

MARKED = """
import pytest

@pytest.mark.assay_conformance({})
def test_conformance(): ...
"""
FEW = 'scenario=("ping", "jsonrpc.unknown-method", "prompts.every-prompt"), revision="2025-11-25"'

# A small server, with the code of its error for an unknown method as its argument.
TINY = """
import json
import sys

INFO = {"name": "tiny", "version": "1"}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        revision = message["params"]["protocolVersion"]
        answer["result"] = {"protocolVersion": revision, "capabilities": {}, "serverInfo": INFO}
    elif message["method"] == "ping":
        answer["result"] = {}
    else:
        answer["error"] = {"code": int(sys.argv[1]), "message": "no such method"}
    print(json.dumps(answer), flush=True)
"""
GOOD, BROKEN = (
    f'__import__("assay").Stdio({sys.executable!r}, "tiny.py", "{code}")' for code in (-32601, -32600)
)


def marked(pytester: pytest.Pytester, options: str, *arguments: str) -> pytest.RunResult:
    (pytester.path / "tiny.py").write_text(TINY)
    return run(pytester, MARKED.format(options), *arguments, plugins=(), settings="")


def test_each_scenario_is_an_item_with_its_own_outcome(pytester: pytest.Pytester) -> None:
    result = marked(pytester, f"{GOOD}, {FEW}", "-v", "-rs")
    output = text(result)
    for line in (
        "test_shop.py::test_conformance[jsonrpc.unknown-method] PASSED",
        "test_shop.py::test_conformance[lifecycle.ping] PASSED",
        "test_shop.py::test_conformance[prompts.every-prompt] SKIPPED",
        "test_shop.py::test_conformance[discovery] PASSED",
        "the server lists no prompts",
    ):
        assert line in output
    assert result.ret == 0


def test_the_finding_is_the_text_of_the_failure_and_the_run_ends_with_the_session(
    pytester: pytest.Pytester,
) -> None:
    result = marked(pytester, f"{BROKEN}, {FEW}", "--exitfirst")
    output = text(result)
    for line in (
        "FAILURE jsonrpc.unknown-method: An unknown method was not refused with -32601",
        "  expected  error -32601",
        "  observed  error -32600: no such method",
        "  in        jsonrpc.unknown-method (stdio 2025-11-25)",
    ):
        assert line in output.splitlines()
    assert "Traceback" not in output and "Nonconforming" not in output
    assert result.ret == 1
    assert [thread.name for thread in threading.enumerate() if thread.name == "assay-lab"] == []


def test_items_are_selected_as_others_are(pytester: pytest.Pytester) -> None:
    result = marked(pytester, f"{GOOD}, {FEW}", "-k", "unknown", "-v")
    result.assert_outcomes(passed=1, deselected=3)


def test_marks_of_the_function_apply_to_its_items(pytester: pytest.Pytester) -> None:
    result = marked(pytester, f"{GOOD}, {FEW})\n@pytest.mark.skip(reason='not now'")
    result.assert_outcomes(skipped=4)


def test_the_option_adds_items_to_any_tests(pytester: pytest.Pytester) -> None:
    arguments = (
        "--assay-check",
        "--assay-scenario",
        "jsonrpc.unknown-method",
        "--assay-revision",
        "2025-11-25",
    )
    result = run(pytester, "def test_mine(): ...", *arguments, "-v", plugins=(), settings=SERVER)
    result.assert_outcomes(passed=3)
    assert "assay-check[jsonrpc.unknown-method] PASSED" in text(result)


def test_a_server_that_does_not_start_fails_once(pytester: pytest.Pytester) -> None:
    result = marked(pytester, f'__import__("assay").Stdio("no-such-program"), {FEW}')
    result.assert_outcomes(failed=1, skipped=3)
    assert "the command cannot be run" in text(result)


def test_a_baseline_expects_failures_and_notices_what_passes(pytester: pytest.Pytester) -> None:
    (pytester.path / "baseline.yml").write_text("server:\n  - jsonrpc.unknown-method\n")
    expected = marked(pytester, f'{BROKEN}, baseline="baseline.yml", {FEW}')
    expected.assert_outcomes(passed=2, skipped=1, xfailed=1)
    stale = marked(pytester, f'{GOOD}, baseline="baseline.yml", {FEW}')
    stale.assert_outcomes(passed=2, skipped=1, failed=1)
    assert "stale in the baseline: jsonrpc.unknown-method" in text(stale)


MISTAKES = {
    'colour="red"': "the lab has no option colour",
    'suite="protocol", scenario="no.such"': "no such scenario: no.such",
    'revision="1999-01-01"': "unknown revision: 1999-01-01",
    'transport="pigeon"': "unknown transport: pigeon",
    "timeout=[]": "an option has a wrong type",
    '"shop"': "not a server: 'shop'",
    "object()": "the lab starts the server itself: name it as",
    '"a:b", "c:d"': "it takes one server",
    '__import__("assay").Stdio("x", env={"A": "1"})': "the lab takes no env= and cwd=",
}


def test_a_mistake_in_the_mark_is_an_error_of_collection(pytester: pytest.Pytester) -> None:
    for number, options in enumerate(MISTAKES):
        pytester.makepyfile(**{f"test_{number}": MARKED.format(options)})
    result = run(pytester, "", plugins=(), settings=SERVER)
    result.assert_outcomes(errors=len(MISTAKES))
    assert [line for line in MISTAKES.values() if line not in text(result)] == []
    assert "Traceback" not in text(result) and "src/assay" not in text(result)


def test_without_a_server_the_mark_names_how_to_give_one(pytester: pytest.Pytester) -> None:
    assert 'no server to judge: write @pytest.mark.assay_conformance("package.module:name")' in text(
        marked(pytester, FEW)
    )


def test_a_missing_extra_is_one_clear_line(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.lab.extra.LAB", ("no_such_library",))
    line = 'the lab needs no-such-library, which is not installed: pip install "assay-mcp[lab]"'
    assert f"@pytest.mark.assay_conformance: {line}" in text(marked(pytester, f"{GOOD}, {FEW}"))
    result = run(pytester, "def test_mine(): ...", "--assay-check", plugins=(), settings=SERVER)
    assert result.errlines == [f"ERROR: --assay-check: {line}", ""]


def test_options_of_the_command_line_replace_those_of_the_mark(pytester: pytest.Pytester) -> None:
    from assay.testing.lab_option import judge_options

    config = pytester.parseconfig(
        "-p",
        "assay.testing.plugin",
        "--assay-revision=2025-06-18",
        "--assay-transport=http",
        "--assay-suite=everything",
    )
    options = judge_options(config, {"revision": "2025-11-25", "transport": ["stdio", "ws"], "strict": True})
    assert (options.spec_version, options.transport, options.suite) == (
        ("2025-06-18",),
        ("http",),
        "everything",
    )
    assert options.strict
    with pytest.raises(InvalidOptions):
        judge_options(config, {"colour": 1})

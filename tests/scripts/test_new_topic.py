"""A new topic starts from a template that works, and never replaces an existing one."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from assay.lab.harness.check import Check
from assay.lab.harness.sabotage.fault import Fault
from assay.lab.harness.scenario import Scenario
from scripts import new_topic

ARGUMENTS = ["novel", "odd_name", "TL-19"]


@pytest.fixture(autouse=True)
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(new_topic, "SUITE", tmp_path)
    return tmp_path


def test_topic_declares_a_scenario_a_check_and_a_saboteur(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert new_topic.main(ARGUMENTS) == 0

    module = ModuleType("assay.lab.suite.novel.odd_name")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile((suite / "novel" / "odd_name.py").read_text("utf-8"), "odd_name.py", "exec"), vars(module))
    ids = {
        kind: [part.id for part in vars(module).values() if isinstance(part, kind)]
        for kind in (Scenario, Check, Fault)
    }
    assert ids == {
        Scenario: ["novel.odd-name"],
        Check: ["novel.odd-name"],
        Fault: ["novel.odd-name-refused"],
    }
    assert (suite / "novel" / "__init__.py").exists()


def test_existing_topic_is_never_replaced(suite: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert new_topic.main(ARGUMENTS) == 0
    text = (suite / "novel" / "odd_name.py").read_text("utf-8")

    assert new_topic.main(["novel", "odd_name", "TL-20"]) == 2
    assert (suite / "novel" / "odd_name.py").read_text("utf-8") == text
    assert "the topic exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [[], ["tools", "name"], ["../tools", "name", "TL-19"], ["tools", "name", "19"]]
)
def test_wrong_use_is_refused_with_an_example(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert new_topic.main(arguments) == 2
    assert new_topic.USAGE in capsys.readouterr().err

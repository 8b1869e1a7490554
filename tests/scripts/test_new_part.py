"""New parts of the lab begin from templates that compile, and never replace what is there."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.meta.tree import ROOT


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("new_part", ROOT / "scripts" / "new_part.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for kind in module.KINDS:
        (tmp_path / f"{kind}s").mkdir()
    monkeypatch.setattr(module, "SUITE", tmp_path)
    return module


@pytest.mark.parametrize("kind", ["scenario", "check", "saboteur"])
def test_part_is_written_once_and_declares_itself(kind: str, script: ModuleType, tmp_path: Path) -> None:
    arguments = [kind, "novel", "odd_name", "TL-19"]
    assert script.main(arguments) == 0
    path = tmp_path / f"{kind}s" / "novel" / "odd_name.py"
    scope: dict[str, object] = {"__name__": f"x.{kind}s.novel.odd_name"}
    exec(compile(path.read_text("utf-8"), str(path), "exec"), scope)
    made = [value for value in scope.values() if getattr(value, "id", None) == "novel.odd-name"]
    assert len(made) == 1
    assert (path.parent / "__init__.py").exists()
    assert script.main(arguments) == 2


@pytest.mark.parametrize(
    "arguments",
    [[], ["check"], ["rule", "a", "b", "TL-19"], ["check", "../a", "b", "TL-19"], ["check", "a", "b", "19"]],
)
def test_wrong_use_is_refused(
    arguments: list[str], script: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert script.main(arguments) == 2
    assert "make new-scenario" in capsys.readouterr().err

"""How a process knows that it is a worker, and when workers are impossible."""

import os
import sys
import threading
from types import ModuleType

import pytest

from assay.model.error import CannotStartWorkers
from assay.transport.workers.command import VARIABLE, channel_descriptor, is_worker, own_command, variable
from assay.transport.workers.plan import MOST, check_count, check_stuck


def test_worker_runs_the_command_line_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python3", "-W", "error", "-m", "assay", "serve", "x.py"])
    assert own_command() == [sys.executable, "-W", "error", "-m", "assay", "serve", "x.py"]


def test_interpreter_without_a_program_has_nothing_that_workers_could_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "orig_argv", ["python3", "-i"])
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    with pytest.raises(CannotStartWorkers, match="no file to run") as failure:
        own_command()
    assert "assay serve" in failure.value.fix


def test_threads_cannot_supervise_workers() -> None:
    failures: list[CannotStartWorkers] = []

    def try_it() -> None:
        try:
            own_command()
        except CannotStartWorkers as error:
            failures.append(error)

    thread = threading.Thread(target=try_it)
    thread.start()
    thread.join()
    assert "thread" in str(failures[0])


def test_child_of_the_parent_is_a_worker_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, f"{os.getppid()}:7")
    assert is_worker()
    assert channel_descriptor() == 7
    assert not is_worker()
    assert channel_descriptor() is None


@pytest.mark.parametrize("text", ["", "x", ":", "1:", "{parent}:x", "0:7", "{self}:7"])
def test_variable_of_another_process_makes_no_worker(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text.format(parent=os.getppid(), self=os.getpid()))
    assert channel_descriptor() is None


def test_variable_names_the_parent_and_the_descriptor() -> None:
    assert variable(9) == {VARIABLE: f"{os.getpid()}:9"}


@pytest.mark.parametrize("value", [0, -1, MOST + 1])
def test_number_of_workers_out_of_range_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="workers must be a whole number from 1"):
        check_count(value)


@pytest.mark.parametrize("value", ["2", 2.0, True, None])
def test_number_of_workers_must_be_whole(value: object) -> None:
    with pytest.raises(TypeError, match="workers must be a whole number"):
        check_count(value)


@pytest.mark.parametrize(("value", "error"), [(1, ValueError), (1e9, ValueError), ("9", TypeError)])
def test_timeout_of_workers_out_of_range_is_refused(value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="worker_timeout must be"):
        check_stuck(value)


def test_good_values_are_accepted() -> None:
    assert (check_count(1), check_count(MOST), check_stuck(2)) == (1, MOST, 2.0)

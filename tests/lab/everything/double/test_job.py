"""A job goes on by being looked at, waits for its input, and ends once."""

from assay.lab.everything.double.task_tools import WORKING, Job, asking, completed


def statuses(job: Job, looks: int) -> list[str]:
    return [job.look()["status"] for _ in range(looks)]


def test_work_goes_on_with_each_look_and_stays_done() -> None:
    job = Job([WORKING, WORKING, completed("done")])
    assert statuses(job, 4) == ["working", "working", "completed", "completed"]


def test_input_is_waited_for_until_all_of_it_is_there() -> None:
    job = Job([asking(name="string", confirm="boolean"), completed("done")])
    job.take({"other": {}})
    assert list(job.look()["inputRequests"]) == ["name", "confirm"]
    job.take({"name": {}})
    assert list(job.look()["inputRequests"]) == ["confirm"]
    job.take({"confirm": {}})
    assert statuses(job, 1) == ["completed"]


def test_cancelling_ends_work_and_changes_no_end() -> None:
    job, done = Job([WORKING, completed("done")]), Job([completed("done")])
    job.cancel()
    done.cancel()
    assert (statuses(job, 1), statuses(done, 1)) == (["cancelled"], ["completed"])


def test_a_new_task_does_not_say_what_comes_of_it() -> None:
    assert not {"result", "inputRequests"} & Job([completed("done")]).seed.keys()

from assay.transport.workers.totals import Totals


def test_counters_and_gauges_of_all_workers_are_added_up() -> None:
    totals = Totals()
    first = {"counters": {"a": 1.0, "b": 2.0}, "gauges": {"open": 3.0}}
    second = {"counters": {"a": 10.0}, "gauges": {"open": 4.0}}
    assert totals.sum_of([first, second, {}]) == {
        "counters": {"a": 11.0, "b": 2.0},
        "gauges": {"open": 7.0},
        "restarts": 0,
    }


def test_counters_of_a_worker_that_has_ended_are_kept_and_its_gauges_are_not() -> None:
    totals = Totals()
    totals.retire({"counters": {"a": 5.0}, "gauges": {"open": 3.0}})
    totals.retire({})
    totals.restarts += 1
    present = {"counters": {"a": 1.0}, "gauges": {"open": 1.0}}
    expected = {"counters": {"a": 6.0}, "gauges": {"open": 1.0}, "restarts": 1}
    assert totals.sum_of([present]) == totals.sum_of([present]) == expected

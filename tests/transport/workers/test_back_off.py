from assay.transport.workers.back_off import FIRST, HEALTHY, LONGEST, LONGEST_AFTER_SERVICE, BackOff


def test_worker_that_had_served_for_a_while_is_replaced_at_once() -> None:
    assert [BackOff().delay(seconds) for seconds in (HEALTHY, 1000.0)] == [0.0, 0.0]


def test_delay_doubles_with_each_worker_that_never_served_up_to_a_limit() -> None:
    back_off = BackOff()
    delays = [back_off.delay(None) for _ in range(40)]
    assert delays[:4] == [FIRST, 2 * FIRST, 4 * FIRST, 8 * FIRST]
    assert delays == sorted(delays)
    assert max(delays) == LONGEST


def test_workers_that_served_are_replaced_soon_however_often_they_end() -> None:
    back_off = BackOff()
    assert max(back_off.delay(0.1) for _ in range(40)) == LONGEST_AFTER_SERVICE


def test_a_long_service_forgets_the_short_ones() -> None:
    back_off = BackOff()
    for _ in range(5):
        back_off.delay(None)
    back_off.delay(HEALTHY)
    assert back_off.delay(None) == FIRST

"""Sockets of several workers on one address."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from assay.model.error import CannotListen
from assay.transport.http1.listening import listen
from assay.transport.workers.sockets import SPREADS, siblings


@contextmanager
def opened(count: int, host: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        sockets = siblings(listen(host, 0), count)
        for each in sockets:
            stack.enter_context(each)
        yield sockets


@pytest.mark.skipif(not SPREADS, reason="only Linux spreads connections over sockets")
@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_each_worker_has_a_socket_and_gets_a_part_of_the_connections(host: str) -> None:
    with opened(4, host) as sockets, ExitStack() as stack:
        assert len({each.getsockname() for each in sockets}) == 1
        for _ in range(200):
            stack.enter_context(socket.create_connection(sockets[0].getsockname()[:2]))
        counts = [count_accepted(each) for each in sockets]
        assert sum(counts) == 200
        assert min(counts) >= 20


def count_accepted(listening: socket.socket) -> int:
    listening.setblocking(False)
    count = 0
    while True:
        try:
            listening.accept()[0].close()
        except BlockingIOError:
            return count
        count += 1


def test_one_worker_has_the_socket_as_it_is() -> None:
    with opened(1) as sockets:
        assert len(sockets) == 1
        assert not sockets[0].getsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT)


def test_address_of_other_workers_is_taken() -> None:
    with opened(2) as sockets, pytest.raises(CannotListen, match="in use"):
        listen("127.0.0.1", sockets[0].getsockname()[1])


def test_sockets_that_cannot_share_the_address_are_replaced_by_the_first_alone() -> None:
    left, right = socket.socketpair()
    with left, right:
        assert siblings(left, 3) == [left]

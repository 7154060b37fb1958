"""One real ZooKeeper for the tests of a file, whose sessions are long; and the jars of Kafka, where they can be had."""

import pytest
from kazoo.protocol.serialization import Delete

from kafkaproof.impl.harness.driving.zookeeper_server import Keeper
from kafkaproof.impl.harness.real import jars
from kafkaproof.impl.seams.zookeeper.requests import Requests, create
from kafkaproof.impl.seams.zookeeper.znodes import PERSISTENT, Controller, ControllerEpoch
from kafkaproof.spec.errors import UserError
from kafkaproof.spec.kafka.zookeeper import OK

LEFT = (Controller.path, ControllerEpoch.path)
TICK, SESSION = 3000, 60.0
"""Milliseconds, and seconds: no session ends by itself, however busy the machine is."""


@pytest.fixture(scope="module")
def keeper(tmp_path_factory):
    """A ZooKeeper server with the persistent znodes."""
    directory = tmp_path_factory.mktemp("keeper")
    server = Keeper(directory, TICK)
    requests = Requests(server.address, SESSION)
    assert requests.open(120)
    for path in PERSISTENT:
        assert requests.write(create(path)) == OK
    requests.session.close()
    yield server
    server.stop()


@pytest.fixture
def opened(keeper):
    """Open sessions that are closed when the test ends."""
    all_of_them = []

    def open_one() -> Requests:
        requests = Requests(keeper.address, SESSION)
        assert requests.open(120)
        all_of_them.append(requests)
        return requests

    yield open_one
    for requests in all_of_them:
        requests.session.close()


@pytest.fixture
def clean(opened):
    """A session of an operator, who removes at the end what brokers have left."""
    operator = opened()
    yield operator
    paths = [*LEFT, *(f"/isr_change_notification/{name}" for name in children(operator, "/isr_change_notification"))]
    for path in paths:
        operator.write(Delete(path, -1))


def children(requests, path):
    """The names of a znode's children."""
    return requests.at_once(lambda: requests.session.children(path))[0].result[0]


@pytest.fixture
def kafka(monkeypatch):
    """Make sure that the jars of a release are there, or skip."""
    monkeypatch.setattr(jars, "PATIENCE", 180)

    def of(release):
        try:
            jars.class_path(release)
        except UserError as error:
            pytest.skip(f"no Kafka {release} here: {error}")
        return release

    return of

"""/feature is written as Kafka's controller writes it."""

import json

import pytest

from kafkaproof.impl.seams.zookeeper.features import PATH, set_up_features

LEVELS = {"one": {"min_version_level": 2, "max_version_level": 2}}


@pytest.mark.parametrize(
    ("found", "spoken", "written"),
    [
        (None, "3.9", {"version": 2, "status": 1, "features": {}}),
        (None, "2.8", {"version": 1, "status": 1, "features": {}}),
        (
            {"version": 1, "status": 1, "features": LEVELS},
            "3.9",
            {"version": 2, "status": 1, "features": {"one": {"max_version_level": 2}}},
        ),
        ({"version": 1, "status": 1, "features": LEVELS}, "2.8", {"version": 1, "status": 1, "features": LEVELS}),
        ({"version": 1, "status": 0, "features": LEVELS}, "3.9", {"version": 2, "status": 1, "features": {}}),
    ],
)
def test_a_controller_keeps_the_features_that_are_enabled_and_writes_only_what_changes(opened, found, spoken, written):
    client = opened().session._client
    client.ensure_path(PATH)
    client.delete(PATH)
    if found:
        client.create(PATH, json.dumps(found).encode())
    requests = opened()
    for _ in range(2):
        set_up_features(requests, spoken)
        data, stat = client.get(PATH)
        assert json.loads(data) == written
        assert stat.version == int(found not in (None, written)), "what is as it should be is not written again"

"""/feature: which features a cluster has; a controller writes it at the beginning of its term. Ours have none to tell.

Source: kafka.controller.KafkaController.maybeSetupFeatureVersioning, 2.7 to 3.9; kafka.zk.FeatureZNode, 2.7 to 3.9.
"""

from __future__ import annotations

import json

from kazoo.protocol.serialization import SetData

from kafkaproof.impl.seams.zookeeper.requests import NotAnswered, Requests, create
from kafkaproof.impl.seams.zookeeper.session import Expired
from kafkaproof.impl.seams.zookeeper.znodes import to_bytes

PATH, ENABLED = "/feature", 1
VERSIONS = {"2.8": 1, "3.9": 2}
"""The version of its content, by inter.broker.protocol.version: from 3.3 on a feature has no least level."""


def set_up_features(requests: Requests, spoken: str) -> None:
    """Write that there are none, or keep those that are enabled, in the version that is spoken; where ZooKeeper does not
    answer, the next controller does it.
    """
    try:
        reply = requests.at_once(lambda: requests.session.get(PATH))[0]
        if reply.error:
            requests.write_beside(create(PATH, content(spoken, {})))
            return
        known = json.loads(reply.result[0])
        wanted = content(spoken, known["features"] if known["status"] == ENABLED else {})
        if json.loads(wanted) != known:
            requests.write_beside(SetData(PATH, wanted, -1))
    except (NotAnswered, Expired):
        return


def content(spoken: str, features: dict[str, dict[str, int]]) -> bytes:
    """The content of the znode; each of `features` has its levels."""
    version = VERSIONS[spoken]
    levels = {
        name: {"max_version_level": each["max_version_level"]}
        | ({"min_version_level": each["max_version_level"]} if version == 1 else {})
        for name, each in features.items()
    }
    return to_bytes({"version": version, "status": ENABLED, "features": levels})

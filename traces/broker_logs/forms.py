"""The forms of the lines that brokers log: of 1.1.1, 2.8 and 3.9.1 unless said otherwise."""

import re
from typing import NamedTuple

ELECTED, STATE, FROM, SHUTTING_DOWN = (
    "elections of controllers",
    "leaders and leader epochs",
    "controllers obeyed",
    "controlled shutdowns asked for",
)
HANDLED, STARTED, TRUNCATED_TO, READY, NOT_MADE, BAD_VERSION, STALE_VERSION, INELIGIBLE, EXPIRED = (
    "request handled",
    "replica started",
    "log truncated",
    "broker started",
    "first state not made",
    "ISR refused",
    "version of an ISR stale",
    "leader ineligible",
    "segment expired",
)
NOT_EMPTY = "requests of an earlier term kept"
SIGNS_OF_TROUBLE = {
    SHUTTING_DOWN,
    HANDLED,
    STARTED,
    TRUNCATED_TO,
    READY,
    NOT_MADE,
    BAD_VERSION,
    STALE_VERSION,
    INELIGIBLE,
    EXPIRED,
    NOT_EMPTY,
}
"""What is not held to ZooKeeper line by line, but tells together with others what went wrong."""
_CONTROLLER = r"\[Controller (?:id=)?(?P<broker>\d+)(?: epoch=(?P<epoch>\d+))?\]:? "
_PARTITION = r"(?P<topic>[\w.-]+)-(?P<number>\d+)"
_BROKER = r"\[Broker id=(?P<teller>\d+)\] "
_BY = r"from controller (?P<broker>\d+) epoch (?P<epoch>\d+)"


class Tell(NamedTuple):
    """A form of line: what is in every one of its kind, what it tells, and how it is read."""

    sign: str
    what: str
    pattern: re.Pattern


TELLS = tuple(
    Tell(sign, what, re.compile(pattern))
    for sign, what, pattern in (
        ("poch incremented to ", ELECTED, _CONTROLLER + r".*[Ee]poch incremented to (?P<own>\d+)"),
        ("incremented epoch to ", ELECTED, _CONTROLLER + r".*incremented epoch to (?P<own>\d+)"),
        ("new controller with epoch ", ELECTED, _CONTROLLER + r".*new controller with epoch (?P<own>\d+)"),
        ("] Shutting down broker ", SHUTTING_DOWN, _CONTROLLER + r"Shutting down broker (?P<leader>\d+)"),
        (
            " with state LeaderAndIsr(",
            STATE,
            _CONTROLLER + rf"Changed partition {_PARTITION} from .* with state LeaderAndIsr\(leader=(?P<leader>-?\d+), "
            r"leaderEpoch=(?P<leader_epoch>\d+)",
        ),
        (
            " state changed to (Leader:",
            STATE,
            _CONTROLLER + rf"Partition {_PARTITION} state changed to \(Leader:(?P<leader>-?\d+),"
            r".*LeaderEpoch:(?P<leader_epoch>\d+)",
        ),
        (
            "Received LeaderAndIsr request ",
            STATE,
            _BROKER + r".*[( ]leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* "
            rf"{_BY} for partition {_PARTITION}\b",
        ),
        (
            "Received LeaderAndIsr request ",
            STATE,
            _BROKER + r".*\(topicName='(?P<topic>[^']+)', partitionIndex=(?P<number>\d+),.* "
            rf"leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* {_BY}\b",
        ),
        ("Completed LeaderAndIsr request ", FROM, _BROKER + rf".* {_BY} .*for partition {_PARTITION}\b"),
        (
            "Handling LeaderAndIsr request ",
            HANDLED,
            _BROKER + r".* from controller (?P<broker>\d+) (?:epoch (?P<epoch>\d+) )?",
        ),
        (
            " starts at leader epoch ",
            STARTED,  # 2.3 to 2.5 have it in server.log
            rf"\[(?:Broker id|Partition \S+ broker)=(?P<teller>\d+)\] (?:Leader |Follower )?{_PARTITION}"
            r"(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+)(?:.* high watermark (?P<high>\d+))?"
            r"(?:.* ISR \[(?P<isr>[\d,]*)\])?",
        ),
        (
            "] Truncating to offset ",
            TRUNCATED_TO,
            rf"\[(?:Unified)?Log partition={_PARTITION}, dir=.*\] Truncating to offset (?P<offset>\d+)",
        ),
        (
            "largestRecordTimestamp=Some(0)) due to retention time",
            EXPIRED,  # 2.8 and later
            rf"\[(?:Unified)?Log partition={_PARTITION}, dir=.*\] Deleting segment LogSegment\(baseOffset=(?P<offset>\d+), ",
        ),
        ("] started (kafka.server.KafkaServer)", READY, r"\[KafkaServer id=(?P<teller>\d+)\] started "),
        (
            " from NewPartition to OnlinePartition",
            NOT_MADE,
            _CONTROLLER
            + rf"Controller \d+ epoch \d+ failed to change state for partition {_PARTITION} from NewPartition",
        ),
        (
            ", bad ZK version",
            BAD_VERSION,  # 2.7 and later
            _CONTROLLER + r"Failed to update ISR (?:to LeaderAndIsr\(leader=(?P<leader>\d+), "
            rf"leaderEpoch=(?P<leader_epoch>\d+).*\) )?for partition {_PARTITION}, bad ZK version",
        ),
        (
            "Cached zkVersion ",
            STALE_VERSION,  # up to 2.6
            rf"\[Partition {_PARTITION} broker=(?P<teller>\d+)\] Cached zkVersion \[?(?P<offset>\d+)\b",
        ),
        (
            "batch is not empty while creating a new one",
            NOT_EMPTY,  # 2.1 and later; the line below the error
            r"\[(?:Partition|Replica)StateMachine controllerId=(?P<broker>\d+)\] Error while moving some ",
        ),
        (
            "it specified ineligible replicas ",
            INELIGIBLE,  # 3.3 and later; `leader`: nobody else is
            _CONTROLLER
            + rf"Rejecting AlterPartition request from node (?P<teller>\d+) for {_PARTITION} because it specified "
            r"ineligible replicas \w*Set\((?:(?P<leader>(?P=teller))\))?",
        ),
    )
)
"""All forms. `own`: the epoch that the controller itself tells of; `teller`: a broker that tells of itself."""

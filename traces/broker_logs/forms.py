"""The forms of the lines that brokers log: of 1.1.1, 2.8 and 3.9.1 unless said otherwise."""

import re
from typing import NamedTuple

from kafkaproof.traces.broker_logs.claims import (
    BadVersion,
    Claim,
    Elected,
    Expired,
    Handled,
    Ineligible,
    NotEmpty,
    NotMade,
    Obeyed,
    Ready,
    ShutdownAsked,
    StaleVersion,
    Started,
    State,
    StateReceived,
    Truncated,
)

_CONTROLLER = r"\[Controller (?:id=)?(?P<broker>\d+)(?: epoch=(?P<epoch>\d+))?\]:? "
_PARTITION = r"(?P<topic>[\w.-]+)-(?P<number>\d+)"
_BROKER = r"\[Broker id=(?P<teller>\d+)\] "
_BY = r"from controller (?P<broker>\d+) epoch (?P<epoch>\d+)"


class Tell(NamedTuple):
    """A form of line: a text that every such line has, what it tells, and how it is read."""

    sign: str
    claim: type[Claim]
    pattern: re.Pattern


TELLS = tuple(
    Tell(sign, claim, re.compile(pattern))
    for sign, claim, pattern in (
        ("poch incremented to ", Elected, _CONTROLLER + r".*[Ee]poch incremented to (?P<own>\d+)"),
        ("incremented epoch to ", Elected, _CONTROLLER + r".*incremented epoch to (?P<own>\d+)"),
        ("new controller with epoch ", Elected, _CONTROLLER + r".*new controller with epoch (?P<own>\d+)"),
        ("] Shutting down broker ", ShutdownAsked, _CONTROLLER + r"Shutting down broker (?P<leaving>\d+)"),
        (
            " with state LeaderAndIsr(",
            State,
            _CONTROLLER + rf"Changed partition {_PARTITION} from .* with state LeaderAndIsr\(leader=(?P<leader>-?\d+), "
            r"leaderEpoch=(?P<leader_epoch>\d+)",
        ),
        (
            " state changed to (Leader:",
            State,
            _CONTROLLER + rf"Partition {_PARTITION} state changed to \(Leader:(?P<leader>-?\d+),"
            r".*LeaderEpoch:(?P<leader_epoch>\d+)",
        ),
        (
            "Received LeaderAndIsr request ",
            StateReceived,
            _BROKER + r".*[( ]leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* "
            rf"{_BY} for partition {_PARTITION}\b",
        ),
        (
            "Received LeaderAndIsr request ",
            StateReceived,
            _BROKER + r".*\(topicName='(?P<topic>[^']+)', partitionIndex=(?P<number>\d+),.* "
            rf"leader=(?P<leader>-?\d+), leaderEpoch=(?P<leader_epoch>\d+).* {_BY}\b",
        ),
        ("Completed LeaderAndIsr request ", Obeyed, _BROKER + rf".* {_BY} .*for partition {_PARTITION}\b"),
        (
            "Handling LeaderAndIsr request ",
            Handled,
            _BROKER + r".* from controller (?P<broker>\d+) (?:epoch (?P<epoch>\d+) )?",
        ),
        (
            " starts at leader epoch ",
            Started,  # 2.3 to 2.5 have it in server.log
            rf"\[(?:Broker id|Partition \S+ broker)=(?P<teller>\d+)\] (?:Leader |Follower )?{_PARTITION}"
            r"(?: with topic id \S+)? starts at leader epoch (?P<leader_epoch>\d+)(?:.* high watermark (?P<high>\d+))?"
            r"(?:.* ISR \[(?P<isr>[\d,]*)\])?",
        ),
        (
            "] Truncating to offset ",
            Truncated,
            rf"\[(?:Unified)?Log partition={_PARTITION}, dir=.*\] Truncating to offset (?P<offset>\d+)",
        ),
        (
            "largestRecordTimestamp=Some(0)) due to retention time",
            Expired,  # 2.8 and later
            rf"\[(?:Unified)?Log partition={_PARTITION}, dir=.*\] Deleting segment LogSegment\(baseOffset=(?P<offset>\d+), ",
        ),
        ("] started (kafka.server.KafkaServer)", Ready, r"\[KafkaServer id=(?P<teller>\d+)\] started "),
        (
            " from NewPartition to OnlinePartition",
            NotMade,
            _CONTROLLER
            + rf"Controller \d+ epoch \d+ failed to change state for partition {_PARTITION} from NewPartition",
        ),
        (
            ", bad ZK version",
            BadVersion,  # 2.7 and later
            _CONTROLLER + r"Failed to update ISR (?:to LeaderAndIsr\(leader=(?P<leader>\d+), "
            rf"leaderEpoch=(?P<leader_epoch>\d+).*\) )?for partition {_PARTITION}, bad ZK version",
        ),
        (
            "Cached zkVersion ",
            StaleVersion,  # up to 2.6
            rf"\[Partition {_PARTITION} broker=(?P<teller>\d+)\] Cached zkVersion \[?(?P<version>\d+)\b",
        ),
        (
            "batch is not empty while creating a new one",
            NotEmpty,  # 2.1 and later; the line below the error
            r"\[(?:Partition|Replica)StateMachine controllerId=(?P<broker>\d+)\] Error while moving some ",
        ),
        (
            "it specified ineligible replicas ",
            Ineligible,  # 3.3 and later; `leader`: nobody else is
            _CONTROLLER
            + rf"Rejecting AlterPartition request from node (?P<teller>\d+) for {_PARTITION} because it specified "
            r"ineligible replicas \w*Set\((?:(?P<leader>(?P=teller))\))?",
        ),
    )
)
"""All forms. A group gives the field of its name, where the claim has one; `topic` and `number` give the partition, and `own`
the epoch that the controller itself tells of."""

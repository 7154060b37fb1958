"""What a broker tells of its groups: ListGroups and DescribeGroups."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka.protocol.admin.groups import DescribeGroupsResponse, ListGroupsResponse

from kafkaproof.impl.groups.group import Group
from kafkaproof.impl.protocol.group_requests import described, listed
from kafkaproof.spec.group.group_states import ABSENT, DEAD, GroupState
from kafkaproof.spec.group.network import Verdict
from kafkaproof.spec.group.verdicts import gate, list_verdict
from kafkaproof.spec.running.coordinators import PROTOTYPE


def list_groups(groups: Mapping[str, Group], states: Collection[str]) -> ListGroupsResponse:
    """The answer to ListGroups: the groups that this broker has, by name; only those in some states, where any is named."""
    verdict = Verdict.names[list_verdict(groups[PROTOTYPE].broker)]
    living = (group for group in groups.values() if group.broker.group.state not in (ABSENT, DEAD))
    found = [(group.name, group.protocol_type, _state(group)) for group in living]
    wanted = {state.lower() for state in states}
    return listed(verdict, [each for each in found if not wanted or each[2].lower() in wanted])


def describe_groups(groups: Iterable[Group]) -> DescribeGroupsResponse:
    """The answer to DescribeGroups about these groups."""
    return described([_description(group) for group in groups])


def _description(group: Group) -> dict:
    return {
        "name": group.name,
        "verdict": Verdict.names[gate(group.broker)],
        "type": group.protocol_type,
        "state": _state(group),
        "protocol": group.protocol,
        "members": [group.members[n] for n in group.present()],
    }


def _state(group: Group) -> str:
    state = group.broker.group.state
    return "Dead" if state == ABSENT else GroupState.names[state]

"""The judge of control requests, and of what brokers ask of their controller."""

from __future__ import annotations

from kafkaproof.traces.wire.control.asked import Asked
from kafkaproof.traces.wire.control.proposals import Proposals
from kafkaproof.traces.wire.control.requests import Requests
from kafkaproof.traces.wire.traffic import Traffic
from kafkaproof.traces.wire.verdicts import Judged


def judge_control(traffic: Traffic, judged: Judged) -> None:
    """Judge what controllers send, what is asked of them, and what is answered."""
    asked = Asked(traffic.exchanges, traffic.history)
    Requests(traffic.history, traffic.features, asked, traffic.exchanges).judge(judged, traffic.is_whole)
    Proposals(traffic.history, traffic.features, asked, traffic.exchanges).judge(judged)

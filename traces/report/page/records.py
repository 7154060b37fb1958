"""The records behind items, as the page has them: when, whose, what was written, what explains them."""

from collections.abc import Iterable, Iterator

from kafkaproof.spec.catalogue import find
from kafkaproof.spec.election import model as election
from kafkaproof.spec.language.model import Model
from kafkaproof.traces.evidence.accounts import KINDS, TOOLS
from kafkaproof.traces.report.log import Report
from kafkaproof.traces.report.page.items import Item
from kafkaproof.traces.zookeeper.transactions import CreateSession, Transaction

PER_ITEM, MOST_RECORDS, MOST_BYTES, LONGEST = 12, 25_000, 8_000_000, 1_500
"""So many records of an item at most, of all items, so many characters of all operations, and of one."""


def chosen_records(items: Iterable[Item]) -> list[int]:
    """The zxids to embed: of each item the first, then of each the next; the gravest items first."""
    ranked = sorted(items, key=lambda item: -item.weight)
    found: dict[int, None] = {}
    for place in range(PER_ITEM):
        for item in ranked:
            if place < len(item.zxids):
                if len(found) >= MOST_RECORDS:
                    return list(found)
                found[item.zxids[place]] = None
        ranked = [item for item in ranked if len(item.zxids) > place + 1]
    return list(found)


def records_as_json(report: Report, zxids: Iterable[int], began: int) -> dict[str, list]:
    """By zxid: time since `began` in ms, session, broker or null, what it is, operations as (form, text), words."""
    wanted, size, found = list(zxids), 0, {}
    told = report.result.told if report.result else {}
    known = {t.zxid: t for t in report.recording.transactions}
    for zxid in wanted:
        if (transaction := known.get(zxid)) is None:
            continue
        operations = [[operation_text(o), text_in(getattr(o, "data", None))] for o in transaction.operations]
        size += sum(len(form) + len(text) for form, text in operations)
        if size > MOST_BYTES:
            break
        found[f"{zxid:#x}"] = [
            transaction.time - began,
            f"{transaction.session:#x}",
            _broker(report, transaction),
            _account(report, zxid),
            operations,
            told.get(zxid, ""),
        ]
    return found


def operation_text(operation) -> str:
    """An operation with its path and version, as the log has it."""
    if isinstance(operation, CreateSession):
        return f"{operation.form()} for {operation.timeout:,} ms"
    version = getattr(operation, "version", None)
    return operation.form() + ("" if version is None else f" (version {version})")


def text_in(data: bytes | None) -> str:
    """What is written to a znode, as text, cut where it is long."""
    text = (data or b"").decode(errors="replace")
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ... and {len(text) - LONGEST:,} characters more"


def _broker(report: Report, transaction: Transaction) -> int | None:
    return report.result.controllers.broker_of(transaction.session) if report.result else None


def _account(report: Report, zxid: int) -> list | None:
    """The system and the name of the step, or (null) of the kind, that a record is; None where nothing explains it."""
    account = report.audit.accounts.get(zxid) if report.audit else None
    return None if account is None else list(account)


def glossary(report: Report) -> dict[str, str]:
    """What the steps and kinds that occur mean: by the transition's name the first sentence of its docstring."""
    accounts = set(report.audit.accounts.different) if report.audit else set()
    found = {}
    for system, name in sorted((account.system or "", account.name) for account in accounts):
        if not system:
            kind = name.removeprefix(TOOLS)
            found[name] = f"no step of the specification: {KINDS.get(kind, '')}"
            continue
        for step in name.split(" or "):
            function = step.split(" -> ")[0].split(":")[0]
            if words := next(_words(system, function), None):
                found[f"{system}.{function}"] = words
    return found


def _words(system: str, function: str) -> Iterator[str]:
    """The name and the words of a transition, by its function's name."""
    models: dict[str, tuple[Model, ...]] = {
        "election": election.MODELS,
        "partition": (*find("partition"), *find("topics")),
        "topics": tuple(find("topics")),
    }
    for model in models[system]:
        for transition in model.transitions:
            if transition.function.__name__ == function:
                yield f"{transition.name}: {transition.words}"

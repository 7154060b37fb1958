"""Follows a log in which a quorum rules for a while: who rules since when, and the first record nobody can have written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kafkaproof.traces.migration.drivers import CLAIM, Driver, are_announced, claim, in_charge
from kafkaproof.traces.migration.judged import Event, Judged, Reign, Stretch, Trouble
from kafkaproof.traces.migration.others import BY_HAND, Others, is_missing_state
from kafkaproof.traces.migration.ruling import Ruling
from kafkaproof.traces.migration.stores import Stores
from kafkaproof.traces.migration.timeline import SKEW, Timeline
from kafkaproof.traces.migration.troubles import (
    begun_again,
    late_write,
    later_states,
    left_behind,
    missing_state,
    unrecorded_copy,
)
from kafkaproof.traces.reading.recording import Recording
from kafkaproof.traces.zookeeper.snapshot import Snapshot
from kafkaproof.traces.zookeeper.transactions import Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import broker_in, number_in
from kafkaproof.traces.zookeeper.znodes.quorum import (
    CONTROLLER,
    EPOCH,
    MIGRATION,
    Owner,
    claim_in,
    owner_in,
    progress_in,
)


def judge(
    recording: Recording, root: str, transactions: Iterable[Transaction], timelines: Sequence[Timeline]
) -> Judged:
    """Follow a log in which a quorum rules for a while; `timelines`: of the quorums, in the order of time."""
    return Judge(recording, root, timelines).follow(list(transactions))


class Judge:
    """Follows a log record by record; see `judge`.

    A stretch in which a controller in ZooKeeper mode rules, or may come to rule, is left to the replay of such
    controllers: between two of them a quorum rules, or nobody does after it.
    """

    def __init__(self, recording: Recording, root: str, timelines: Sequence[Timeline]):
        self.found = Judged(timelines=list(timelines))
        self._tree, self._root = Tree(recording.start), root
        self._ruling: Ruling | None = None
        self._deposed: dict[int, Driver] = {}
        self._others = Others(root)
        self._stretch: tuple[int, Snapshot | None] | None = (0, recording.start)
        self._ahead: dict[int, int] = {}
        self._announced = True
        self._left_behind: Trouble | None = None

    def follow(self, transactions: Sequence[Transaction]) -> Judged:
        """Judge all records, up to the first that diverges."""
        self._look_ahead(transactions)
        self._begin()
        for transaction in transactions:
            if fault := self._take(transaction):
                self.found.divergence = transaction.zxid, fault
                break
        if self._stretch and self._stretch[0] <= transactions[-1].zxid:
            self.found.stretches.append(Stretch(self._stretch[0], transactions[-1].zxid, self._stretch[1]))
        if self._ruling:
            self._ruling.end()
        self._tell_stuck()
        return self.found

    def _tell_stuck(self) -> None:
        """Tell at the end what keeps a migration from going on."""
        found = [self._left_behind]
        if self._ruling:
            reign = self.found.reigns[-1]
            found.append(missing_state(self._ruling.driver, reign))
            if self.found.timelines:
                found.append(unrecorded_copy(progress_in(self._data(MIGRATION)), reign, self.found.timelines[-1]))
        self.found.troubles += [each for each in found if each]

    def _look_ahead(self, transactions: Sequence[Transaction]) -> None:
        """Find for each record the offset that its session writes next by a record that stands alone, and whether claims
        are followed by a write of /migration.
        """
        self._announced = are_announced(transactions, self._root)
        ahead: dict[int, int] = {}
        for each in reversed(transactions):
            if each.session in ahead:
                self._ahead[each.zxid] = ahead[each.session]
            if not each.multi and isinstance(each.first, SetData) and each.first.path == self._root + MIGRATION:
                if progress := progress_in(each.first.data):
                    ahead[each.session] = progress.offset

    def _begin(self) -> None:
        """Take over who rules at the beginning of the log."""
        if owner := owner_in(self._data(CONTROLLER)):
            epoch = number_in(self._data(EPOCH)) or 0
            self.found.reigns.append(Reign(self._tree.zxid, 0, epoch, None, owner))
            self._stretch = None
            self._rule(in_charge(owner), self._stores(owner, 0)[0])

    def _rule(self, driver: Driver, stores: Stores | None) -> None:
        if self._ruling:
            self._ruling.end()
        self._ruling = Ruling(self._tree, self._root, driver, stores, self.found, self._ahead)

    def _take(self, transaction: Transaction) -> str | None:
        """Judge a record, and apply it; why nobody can have written it, if so."""
        claims = claim_in(transaction, self._root)
        if claims is None and self._is_election(transaction):
            self._begin_stretch(transaction)
        fault = None
        if claims:
            fault = self._claim(transaction, claims)
        elif self._stretch is None:
            fault = self._judge(transaction)
        if fault:
            return fault
        self._watch(transaction)
        before = self._data(CONTROLLER)
        contradictions = self._tree.apply(transaction)
        if contradictions and self._stretch is None:
            return f"ZooKeeper cannot have written this: {contradictions[0]}"
        if claims is None and self._data(CONTROLLER) != before:
            self._note_controller(transaction)
        return None

    def _judge(self, transaction: Transaction) -> str | None:
        ruling = self._ruling
        if ruling and not ruling.driver.session and not transaction.failed and MIGRATION in self._written(transaction):
            ruling.driver.session = transaction.session
        if ruling and transaction.session == ruling.driver.session:
            return ruling.take(transaction)
        late = self._deposed.get(transaction.session)
        if late and late.begins and late.announces and self._written(transaction) == [MIGRATION]:
            return self._take_late(transaction, late)
        if ruling and ruling.driver.lacks and is_missing_state(transaction, self._root):
            self.found.listed("states created by hand")
            return None
        kind, fault = self._others.judge(transaction, self._tree, ruling.driver.name if ruling else "nobody")
        self.found.listed(kind)
        if fault and transaction.session in self._deposed:
            return f"{self._deposed[transaction.session].name} does not rule any more: {fault}"
        return fault

    def _take_late(self, transaction: Transaction, driver: Driver) -> str | None:
        """The first write of /migration of a controller that was deposed before: nothing checks its version."""
        after = progress_in(getattr(transaction.first, "data", None))
        if transaction.failed or driver.known is None or after is None:
            return f"{driver.name} does not rule any more: {transaction.form()}"
        step, fault = driver.write_progress(driver.known, after)
        if fault is None:
            self.found.step(step)
            self.found.troubles.append(late_write(transaction, driver))
        return fault

    def _written(self, transaction: Transaction) -> list[str]:
        return [each.path.removeprefix(self._root) for each in transaction.operations if isinstance(each, SetData)]

    # A quorum's controller claims the rule

    def _claim(self, transaction: Transaction, owner: Owner) -> str | None:
        if self._stretch:
            self.found.stretches.append(Stretch(self._stretch[0], transaction.zxid - 1, self._stretch[1]))
            self._stretch = None
        former, operations = self._data(CONTROLLER), transaction.operations
        wanted: list[tuple[type, str]] = [(SetData, EPOCH), (Delete, CONTROLLER), (Create, CONTROLLER)]
        if former is None:
            del wanted[1]
        made = [(type(each), getattr(each, "path", "").removeprefix(self._root)) for each in operations]
        if made != wanted or not transaction.multi:
            asked = "; ".join(f"{each.__name__} {path}" for each, path in wanted)
            return f"a quorum's controller claims the rule by multi[{asked}], and this is {transaction.form()}"
        raised = number_in(getattr(operations[0], "data", None)) or 0
        epoch = number_in(self._data(EPOCH)) or 0
        driver = claim(transaction.session, owner, owner_in(former), former is not None, epoch, raised, self._announced)
        if isinstance(driver, str):
            return driver
        driver.known = progress_in(self._data(MIGRATION))
        if getattr(operations[-1], "ephemeral", False):
            return "/controller of a quorum is persistent, and this one goes with its session"
        stores, fault = self._stores(owner, transaction.time)
        if fault := fault or self._unready(stores, transaction.time):
            return fault
        if self._ruling:
            self._deposed[self._ruling.driver.session] = self._ruling.driver
        self._deposed.pop(transaction.session, None)
        self._rule(driver, stores)
        self.found.step(CLAIM)
        self._begin_reign(transaction, Reign(transaction.zxid, transaction.time, raised, None, owner))
        self._tell_begun_again(transaction)
        return None

    def _stores(self, owner: Owner, time: int) -> tuple[Stores | None, str | None]:
        """Both stores, where the log of the quorum is there; and why its controller does not lead in it, if so."""
        begun = [each for each in self.found.timelines if not time or each.begins <= time + SKEW]
        if not begun:
            return self._without_log(owner)
        timeline = next((each for each in reversed(begun) if each.is_led_by(owner, time)), begun[-1])
        leaders = timeline.log.leaders
        leader = leaders.get(owner.epoch)
        if leader is None and (not leaders or owner.epoch < min(leaders)):
            return self._without_log(owner)
        stores = Stores(self._tree, self._root, timeline)
        if leader is None:
            return stores, f"in the quorum's log nobody leads in epoch {owner.epoch}"
        if leader.id != owner.id:
            return (
                stores,
                f"in the quorum's log controller {leader.id} leads in epoch {owner.epoch}, and not {owner.id}",
            )
        return stores, None

    def _without_log(self, owner: Owner) -> tuple[None, None]:
        if self.found.timelines:
            self.found.once(
                f"the quorum's log is not there in which controller {owner.id} leads in epoch {owner.epoch}"
            )
        return None, None

    def _unready(self, stores: Stores | None, time: int) -> str | None:
        """Why a claim comes too soon: a broker that ZooKeeper has is not registered with the quorum.

        Kafka: KRaftMigrationDriver.WaitForZkBrokersEvent, 3.4 to 3.9.
        """
        progress = progress_in(self._data(MIGRATION))
        if stores is None or progress is None or progress.is_copied or stores.timeline.log.begin:
            return None
        known = {str(each.broker) for each in stores.timeline.modes if each.time <= time + SKEW}
        parent = f"{self._root}/brokers/ids"
        missing = sorted(each for each in self._tree.children.get(parent, ()) if each.rpartition("/")[2] not in known)
        return f"{missing[0]} is there, and that broker is not registered with the quorum" if missing else None

    def _tell_begun_again(self, transaction: Transaction) -> None:
        progress = progress_in(self._data(MIGRATION))
        if self._left_behind and progress and progress.is_copied:
            self.found.troubles += [self._left_behind, begun_again(transaction, progress)]
        self._left_behind = None

    # A controller in ZooKeeper mode

    def _is_election(self, transaction: Transaction) -> bool:
        """Whether a broker takes /controller, which nobody owns any more."""
        if self._stretch or transaction.failed or self._data(CONTROLLER) is not None:
            return False
        made = (each for each in transaction.operations if isinstance(each, Create) and each.ephemeral)
        return any(each.path == self._root + CONTROLLER for each in made)

    def _begin_stretch(self, transaction: Transaction) -> None:
        tree = self._tree
        start = Snapshot(tree.zxid, tree.zxid, dict(tree.sessions), dict(tree.nodes))
        self._stretch = transaction.zxid, start
        self._left_behind = left_behind(transaction, progress_in(self._data(MIGRATION)))

    def _note_controller(self, transaction: Transaction) -> None:
        """Note that a broker took /controller, or that it is gone."""
        after = self._data(CONTROLLER)
        if after is None:
            self._close_reign(
                transaction, "deleted by hand" if isinstance(transaction.first, Delete) else "its session ended"
            )
            if self._ruling:
                self._deposed[self._ruling.driver.session] = self._ruling.driver
                self._ruling.end()
                self._ruling = None
        elif self._stretch:
            epoch = number_in(self._data(EPOCH)) or 0
            later = later_states(transaction, epoch, self._tree, self._root) if self.found.stretches else None
            self.found.troubles += [later] if later else []
            self._begin_reign(transaction, Reign(transaction.zxid, transaction.time, epoch, broker_in(after)))

    def _begin_reign(self, transaction: Transaction, reign: Reign) -> None:
        self._close_reign(transaction, f"deposed by {reign.name}")
        self.found.reigns.append(reign)

    def _close_reign(self, transaction: Transaction, how: str) -> None:
        if self.found.reigns and self.found.reigns[-1].ended is None:
            self.found.reigns[-1].ended, self.found.reigns[-1].how = transaction.zxid, how

    # What is told

    def _watch(self, transaction: Transaction) -> None:
        """Tell when /migration is created, and what is deleted by hand."""
        for each in () if transaction.failed else transaction.operations:
            path = getattr(each, "path", "").removeprefix(self._root)
            if path == MIGRATION and isinstance(each, Create):
                self._event(transaction, "a quorum's controller has started, and creates /migration")
            elif path in BY_HAND and isinstance(each, Delete) and (path == MIGRATION or self._ruling):
                self._left_behind = None if path == MIGRATION else self._left_behind
                if not transaction.multi:
                    self._event(transaction, BY_HAND[path])

    def _event(self, transaction: Transaction, text: str) -> None:
        self.found.events.append(Event(transaction.zxid, transaction.time, text))

    def _data(self, path: str) -> bytes | None:
        node = self._tree.nodes.get(self._root + path)
        return node.data if node else None

"""What a quorum's controller writes to ZooKeeper while it rules, and which record it cannot have written."""

from __future__ import annotations

from collections.abc import Mapping

from kafkaproof.traces.migration.drivers import Departure, Driver
from kafkaproof.traces.migration.in_force import CONFIG, STATE, TOPIC, Subject
from kafkaproof.traces.migration.in_zookeeper import subject_of, topic_of, value_in
from kafkaproof.traces.migration.judged import Event, Judged, Trouble
from kafkaproof.traces.migration.others import Others
from kafkaproof.traces.migration.stores import Stores, name_of, shown
from kafkaproof.traces.migration.written import WORDS, kind_of
from kafkaproof.traces.zookeeper.transactions import Check, Create, Delete, SetData, Transaction
from kafkaproof.traces.zookeeper.tree import Tree
from kafkaproof.traces.zookeeper.znodes.contents import state_in
from kafkaproof.traces.zookeeper.znodes.quorum import EPOCH, MIGRATION, Progress, progress_in

Change = Create | SetData | Delete


class Ruling:
    """Judges the records of one ruling controller, beside the log of its quorum, where that is known (`stores`).

    `ahead`: of each record the offset that its session writes next by a record that stands alone; `deleted`: topics that it
    deleted although nobody asked for that, each with record and time.
    """

    def __init__(
        self, tree: Tree, root: str, driver: Driver, stores: Stores | None, found: Judged, ahead: Mapping[int, int]
    ):
        self.driver, self.stores = driver, stores
        self.deleted: list[tuple[int, int, str]] = []
        self._tree, self._root, self._found, self._ahead = tree, root, found, ahead
        self._others = Others(root)
        self._compared: int | None = None

    def take(self, transaction: Transaction) -> str | None:
        """Judge a record before it is applied; why the controller cannot have written it, if so."""
        driver, first, operations = self.driver, transaction.first, transaction.operations
        if transaction.failed:
            driver.refuse(transaction)
            self._found.listed("refused, of the quorum")
            return None
        if not transaction.multi and isinstance(first, SetData) and first.path == self._root + MIGRATION:
            return self._progress(transaction, first)
        guards = [getattr(each, "path", "")[len(self._root) :] for each in operations[:2]]
        if transaction.multi and len(operations) == 3 and isinstance(first, Check) and guards == [EPOCH, MIGRATION]:
            return self._guarded(transaction)
        kind, fault = self._others.judge(transaction, self._tree, driver.name)
        self._found.listed(kind)
        if fault is None:
            return None
        return f"{driver.name} guards each change by checks of /controller_epoch and /migration: {transaction.form()}"

    # Writes of /migration that stand alone

    def _progress(self, transaction: Transaction, operation: SetData) -> str | None:
        driver = self.driver
        before, after = self._standing, progress_in(operation.data)
        if before is None or after is None:
            return f"/migration becomes {(operation.data or b'').decode(errors='replace')!r}, which no Kafka writes"
        driver.go_on(before)
        began, copied, synchronised = driver.begins, driver.copies, driver.synchronises
        step, fault = driver.write_progress(before, after)
        if fault:
            return fault
        self._found.step(step)
        if copied and not began:
            self._event(transaction, f"the copy from ZooKeeper is complete, at offset {after.offset}")
        elif synchronised and driver.writes_both:
            self._event(transaction, f"{driver.name} has made ZooKeeper like its log, and writes to both stores")
        fault = None if began else self._beside(transaction, copied, before, after)
        if driver.writes_both:
            driver.refused = None
        return fault

    def _beside(self, transaction: Transaction, copied: bool, before: Progress, after: Progress) -> str | None:
        """Hold both stores against each other at a record that says up to where they agree."""
        if self.stores is None:
            return None
        timeline = self.stores.timeline
        if after.offset >= timeline.log.end:
            self._found.once(
                f"{timeline.log.directory}: the quorum's log ends at offset {timeline.log.end - 1}, and ZooKeeper's tells of "
                "later ones"
            )
            return None
        epoch = timeline.log.epoch_at(after.offset)
        if epoch is not None and epoch != after.epoch:
            return f"offset {after.offset} of the quorum's log is of epoch {epoch}, and /migration says {after.epoch}"
        if after.offset < timeline.known_from:
            return None
        if copied and not any(each.end == after.offset for each in timeline.copies):
            return f"no copy ends at offset {after.offset} of the quorum's log"
        wrong = [text for end, text in timeline.contradictions if before.offset < end <= after.offset + 1]
        if wrong:
            return wrong[0]
        new = self.stores.compare(transaction.zxid, transaction.time, self._compared, after.offset)
        self._compared = after.offset
        if new and self.driver.refused is None:
            return f"/migration says that ZooKeeper is like the quorum's log up to offset {after.offset}, but {new[0].text}"
        return None

    # Changes of metadata

    def _guarded(self, transaction: Transaction) -> str | None:
        """A multi that checks /controller_epoch and /migration."""
        _, guard, change = transaction.operations
        before = self._standing
        after = progress_in(guard.data) if isinstance(guard, SetData) else None
        if before is None or isinstance(guard, SetData) and after is None:
            return "/migration is none that Kafka writes"
        self.driver.go_on(before)
        if fault := self.driver.expect_guarded(before, after, transaction.zxid):
            return fault
        if not isinstance(change, Change):
            return f"no controller of a quorum asks for {change.form()}"
        path = change.path.removeprefix(self._root)
        kind = kind_of(path, change)
        if kind is None:
            return f"{self.driver.name} {self.driver.does}, and asks for no {change.form()}"
        try:
            step = self._run(kind, path, change)
        except Departure as departure:
            return str(departure)
        if step:
            self._found.step(step)
        else:
            self._found.listed(f"{kind} {WORDS[type(change)]}")
        return self._content(transaction, subject_of(path), change, before)

    def _run(self, kind: str, path: str, change: Change) -> str | None:
        """Run the step that a change is; None where it is none. Raises Departure."""
        subject = subject_of(path)
        if subject is None or subject[0] not in (TOPIC, STATE):
            return self.driver.change(kind, type(change), None, True, None)
        topic = f"{self._root}/brokers/topics/{subject[1]}"
        node = self._tree.nodes.get(change.path)
        standing = state_in(node.data) if node and subject[0] == STATE else None
        to = None
        if subject[0] == STATE and not isinstance(change, Delete):
            to = state_in(change.data)
            if to is None:
                raise Departure(f"{change.path} is no state of a partition")
            if standing and standing.leader_epoch > to.leader_epoch:
                raise Departure(f"the leader epoch falls from {standing.leader_epoch} to {to.leader_epoch}")
        return self.driver.change(kind, type(change), standing, topic in self._tree.nodes, to)

    def _content(
        self, transaction: Transaction, subject: Subject | None, change: Change, before: Progress
    ) -> str | None:
        """Why the quorum's log allows no such content, if so."""
        if subject is None:
            return None
        data = None if isinstance(change, Delete) else change.data
        if isinstance(change, Delete) and subject[0] == TOPIC:
            self._note_deleted(transaction, subject[1])
        value = value_in(subject, data)
        if self.stores is None:
            return None
        self.stores.dirty.add(subject)
        following = self._ahead.get(transaction.zxid)
        timeline, driver = self.stores.timeline, self.driver
        last = timeline.log.end - 1 if following is None else following
        unknown = last >= timeline.log.end or before.offset < timeline.known_from - 1
        if unknown or subject[0] == CONFIG and not value and isinstance(change, Create):
            return None
        exact = following is not None and driver.writes_both and driver.refused is None
        allowed = [timeline.at(subject, last)] if exact else timeline.within(subject, before.offset, last)
        if value in allowed or value is None and self._is_former(subject, last):
            return None
        told = "is gone" if value is None else f"becomes {shown(value)}"
        where = f"at offset {last}" if exact else f"from offset {before.offset} to {last}"
        said = "nothing" if allowed[-1] is None else shown(allowed[-1])
        return f"{name_of(subject)} {told}, and {where} the quorum's log says {said}"

    def _is_former(self, subject: Subject, last: int) -> bool:
        """Whether the topic that ZooKeeper has is gone from the log, perhaps to be created again."""
        name = topic_of(subject)
        if self.stores is None or name is None:
            return False
        topic, known = self.stores.in_zookeeper((TOPIC, name)), self.stores.timeline.at((TOPIC, name), last)
        return topic is not None and (known is None or known.id != topic.id)

    def _note_deleted(self, transaction: Transaction, topic: str) -> None:
        """Note a topic that goes because the log has not got it, though it never had a record that removes it."""
        if not self.driver.synchronises:
            return
        known = self.stores.in_zookeeper((TOPIC, topic)) if self.stores else None
        if self.stores is None or known is None or known.id not in self.stores.timeline.removed:
            self.deleted.append((transaction.zxid, transaction.time, topic))

    def end(self) -> None:
        """The controller rules no more: tell what it deleted, and what the stores differ in."""
        if self.stores:
            self._found.differences += self.stores.found
        if self.deleted:
            zxid, time, _ = self.deleted[0]
            self._found.troubles.append(
                Trouble(
                    zxid,
                    time,
                    f"{self.driver.name} deleted from ZooKeeper what its log has not, though nobody asked for that",
                    "stop all brokers before they delete the partitions' directories; ZooKeeper's own log and snapshots before "
                    f"{zxid:#x} have the topics' ids, assignments and configurations: write them again with a broker as "
                    "controller, delete /migration, then begin anew",
                    True,
                    tuple(each[2] for each in self.deleted),
                )
            )

    def _event(self, transaction: Transaction, text: str) -> None:
        self._found.events.append(Event(transaction.zxid, transaction.time, text))

    @property
    def _standing(self) -> Progress | None:
        """What /migration says."""
        node = self._tree.nodes.get(self._root + MIGRATION)
        return progress_in(node.data) if node else None

"""One pass over the records of a log, for all that follow it record by record."""

from itertools import chain

from traces.pipeline.work import Progress
from traces.recording import Recording
from traces.zookeeper.transactions import Transaction
from traces.zookeeper.tree import Tree

_EVERY = 5_000


class Listener:
    """Follows a log that is swept; each is told of the same records, and of the same tree."""

    def begin(self, tree: Tree) -> None:
        """The tree before the first record that counts, which the sweep changes as it goes on."""

    def before(self, transaction: Transaction) -> None:
        """A record, while the tree is the one before it."""

    def after(self, transaction: Transaction, contradictions: tuple[str, ...]) -> None:
        """The same record, and the tree after it; what ZooKeeper cannot have written is in `contradictions`."""

    def end(self) -> None:
        """The log is over."""


def sweep(recording: Recording, *listeners: Listener, progress: Progress = lambda done, of: None) -> None:
    """Tell listeners of a log: what was written while its snapshot was taken is in the tree that they begin with."""
    tree, complete = Tree(recording.start), recording.start.last_processed_zxid if recording.start else 0
    counted = iter(recording.transactions)
    for transaction in counted:
        if transaction.zxid > complete:
            counted = chain([transaction], counted)
            break
        tree.apply(transaction)
    for listener in listeners:
        listener.begin(tree)
    befores, afters = [each.before for each in listeners], [each.after for each in listeners]
    of = len(recording.transactions)
    for number, transaction in enumerate(counted, 1):
        for before in befores:
            before(transaction)
        contradictions = tree.apply(transaction)
        for after in afters:
            after(transaction, contradictions)
        if number % _EVERY == 0:
            progress(number, of)
    progress(of, of)
    for listener in listeners:
        listener.end()

"""``kafkaproof explore``: choose a step, see the state, step back, take another one."""

from __future__ import annotations

from pathlib import Path

from kafkaproof.checker.basics.errors import UserError, meant
from kafkaproof.checker.commands.main import OK
from kafkaproof.checker.commands.models import add_model_options, given_sizes, the_one
from kafkaproof.checker.commands.scenario import BUNDLED, ENDING, is_scenario, part_called
from kafkaproof.checker.commands.show import load
from kafkaproof.checker.interactive.opened import opened_in
from kafkaproof.checker.interactive.server import Explored
from kafkaproof.checker.interactive.session import Session
from kafkaproof.checker.interactive.terminal import explore_text
from kafkaproof.checker.runs.counterexample import Trace
from kafkaproof.checker.runs.directory import RUN
from kafkaproof.checker.scenarios.play import play
from kafkaproof.spec.catalogue import SYSTEMS
from kafkaproof.spec.own import is_own

EXAMPLES = """examples:
  kafkaproof explore election --variant legacy --brokers 2     # from an initial state
  kafkaproof explore runs/election-legacy-20260101-120000-1f2e # along a counterexample; --step 7 opens at its step 7
  kafkaproof explore runs/cluster-20260101-120000-1f2e         # where the replay of a recording diverges
  kafkaproof explore /var/lib/zookeeper                        # the same of a real ZooKeeper's log
  kafkaproof explore stuck-deletion                            # along a scenario
  printf '1\\nwhy failover.elect\\n' | kafkaproof explore election --variant fenced --text
"""


def add_parser(commands) -> None:
    """Add the subcommand."""
    parser = commands.add_parser(
        "explore",
        help="explore a model by hand: take a step, step back, ask why one is not possible",
        epilog=EXAMPLES,
        description="Open a page on this machine with the state, the steps that are possible, and why others are not; "
        "or, with --text, do the same in the terminal.",
    )
    add_model_options(
        parser,
        metavar="SYSTEM|SCENARIO|PATH",
        help="a system, a model of your own (FILE.py:MODEL), or a scenario; or the path of a run of check, a recording, a "
        "directory of ZooKeeper's logs, or a trace (TRACE.json)",
    )
    parser.add_argument("--property", metavar="P", help="of a run: which violation (default: the shortest)")
    parser.add_argument("--step", type=int, metavar="N", help="open after step N (default: after the last one)")
    parser.add_argument("--steps", default="", metavar="TEXT", help="open after these steps, with `;` between them")
    parser.add_argument(
        "--initial", type=int, default=0, metavar="N", help="the number of the initial state, from 0 on"
    )
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="where the page is served (default: a free port)"
    )
    parser.add_argument("--text", action="store_true", help="explore in this terminal, or through a pipe")
    parser.set_defaults(run=run)


def run(options) -> int:
    """Serve the page until Ctrl-C, or explore in the terminal."""
    session, begin = _opened(options)
    if options.text:
        explore_text(session, begin)
        return OK
    with Explored(session, begin, options.port) as server:
        print(f"open {server.address} (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("ended")
    return OK


def _opened(options) -> tuple[Session, Trace]:
    """The session that the options name, and the behaviour at whose end it opens. Raises UserError."""
    target = Path(options.system)
    if target.is_dir() and (opened := opened_in(target, options.variant)):
        if options.scope or given_sizes(options) or options.property:
            raise UserError(f"{target} has its own scope; leave out --scope, --property and sizes")
        session = Session(opened.model, opened.scope, opened)
        there = opened.paths[options.initial] if options.initial in range(len(opened.paths)) else ()
        trace = session.trace(options.initial, _texts(options.steps) or there)
    elif (recorded := _recorded(options)) is not None:
        session, trace = Session(recorded.model, recorded.scope), recorded
    else:
        _require_known(options.system)
        session = Session(*the_one(options))
        trace = session.trace(options.initial, _texts(options.steps))
    if options.step is not None and options.step not in range(len(trace.steps) + 1):
        raise UserError(f"no step {options.step}; {options.system} has {len(trace.steps)}")
    return session, Trace(trace.model, trace.scope, trace.initial, trace.steps[: options.step])


def _require_known(target: str) -> None:
    """Raise UserError where a name is that of nothing that can be explored."""
    if target not in SYSTEMS and not is_own(target):
        names = [*SYSTEMS, *(path.stem for path in BUNDLED.glob(f"*{ENDING}"))]
        known = f"no system, scenario, file or directory {target!r}; systems are {', '.join(sorted(SYSTEMS))}"
        raise UserError(f"{known}{meant(target, names)}")


def _texts(steps: str) -> list[str]:
    return [text for text in steps.split(";") if text.strip()]


def _recorded(options) -> Trace | None:
    """The behaviour of a run, a trace file or a scenario; None where the options name a model."""
    target = options.system
    if is_scenario(target):
        scenario, part = part_called(target, options.variant)
        told = play(scenario, part)
        if told.failure:
            raise UserError(told.failure)
        trace = told.trace
    elif Path(target).exists() and not target.endswith(".py"):
        if Path(target).is_dir() and not (Path(target) / RUN).exists():
            raise UserError(f"{target} is no run, no recording, and no directory of ZooKeeper's logs (log.* files)")
        found = load(target, options.property)
        if found.trace is None:
            raise UserError(
                f"{target} is a recorded history, which has no model's states; show it with: kafkaproof show"
            )
        trace = found.trace
    else:
        return None
    if options.steps or options.initial or options.scope or given_sizes(options):
        raise UserError(f"{target} has its own scope and steps; leave out --steps, --initial, --scope and sizes")
    return trace

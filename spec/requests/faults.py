"""Failures and requests from outside, as far as they differ from those of *partition*.

A process that dies takes its session with it at once, and a broker whose log directory fails has notified the controller
at once.
"""

from kafkaproof.spec.language.combine import at_once
from kafkaproof.spec.partition import faults, log_dirs

crash = at_once("crash", faults.crash, faults.expire_orphan)
fail_directory = at_once("fail_directory", faults.fail_log_dir, log_dirs.notify)

"""``python -m tests.checker.fuzz --programs 10000 --seed 1``: does every program mean the same everywhere?

Exit code 0 where no program differs, 1 where one does: it is printed, with what each reading said.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

from tests.checker.fuzz.fuzzing import batches


def main() -> int:
    """Run as many programs as asked for; prints progress after each batch."""
    parser = argparse.ArgumentParser(prog="tests.checker.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args()
    began, total, different = time.monotonic(), Counter(), 0
    for found in batches(asked.programs, asked.seed, asked.processes):
        if isinstance(found, str):
            different += 1
            print(found, flush=True)
        else:
            total += found
            print(f"{total['programs']} programs, {time.monotonic() - began:.0f} s", flush=True)
    for name, count in sorted(total.items()):
        print(f"{count:8} {name}")
    print(f"{different} batches with a difference" if different else "no difference")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())

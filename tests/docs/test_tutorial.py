"""The tutorial's blocks run as one file, in order."""

import re
import subprocess
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_tutorial_runs(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "tutorial.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 6
    program = tmp_path / "tutorial.py"
    program.write_text("\n\n".join(blocks), encoding="utf-8")
    done = subprocess.run([sys.executable, program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "lock.html").read_text(encoding="utf-8").startswith("<!")
    assert "no_stale_write" in done.stdout

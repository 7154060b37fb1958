"""`kafkaproof completion`: what the shells complete, asked of bash itself, and of zsh where it is installed."""

import shutil
import subprocess

import pytest

from kafkaproof.spec.catalogue import all_models, find

ASK = """
source completion.bash
COMP_WORDS=({words}) COMP_CWORD={place} COMP_LINE="" COMP_POINT=0
$(complete -p kafkaproof | sed 's/.*-F \\([^ ]*\\) .*/\\1/') kafkaproof "${{COMP_WORDS[{place}]}}" "${{COMP_WORDS[{before}]}}"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def completed(kafkaproof, tmp_path, monkeypatch):
    """What bash offers at the end of a line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "completion.bash").write_text(kafkaproof("completion", "bash").out)

    def ask(*words):
        line = " ".join(f"'{word}'" for word in ("kafkaproof", *words))
        script = ASK.format(words=line, place=len(words), before=len(words) - 1)
        found = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, timeout=60)
        assert not found.stderr
        return set(found.stdout.split())

    return ask


def test_bash_offers_commands_options_and_names(completed, tmp_path):
    assert {"check", "completion", "replay", "run"} <= completed("") and completed("ch") == {"check"}
    assert completed("check", "elec") == {"election"} and "zombie-controller" in completed("scenario", "zom")
    assert {"partition", "stuck-deletion"} <= completed("explore", "") and completed("prove", "--vari") == {"--variant"}
    assert completed("check", "election", "--variant", "") == {model.variant for model in find("election")}
    assert {"standard", "quick"} <= completed("check", "--scope", "") and "--brokers" in completed("check", "--bro")
    assert "completion.bash" in completed("show", "comp") and "completion.bash" in completed("check", "comp")


def test_a_command_without_a_system_is_offered_every_variant(completed):
    assert completed("explore", "--variant", "") == {model.variant for model in all_models()}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_other_shells_read_theirs(kafkaproof, tmp_path, shell):
    told = kafkaproof("completion", shell)
    assert told.code == 0 and "zombie-controller" in told.out and "kip320-first-try" in told.out
    if path := shutil.which(shell):
        (tmp_path / "file").write_text(told.out)
        assert subprocess.run([path, "-n", tmp_path / "file"], timeout=60).returncode == 0

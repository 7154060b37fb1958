"""Command lines that several tests write."""


def replication(variant: str, brokers: int, log: int, records: int, epochs: int) -> list[str]:
    """The arguments of ``check`` for a variant of replication at a scope."""
    sizes = {"brokers": brokers, "log": log, "records": records, "epochs": epochs}
    options = [text for name, size in sizes.items() for text in (f"--{name}", str(size))]
    return ["check", "replication", "--variant", variant, *options]


def kept(run, master: str = "local[2]") -> list[str]:
    """Options that keep a run at `run` and print its result as JSON."""
    return ["--run-dir", str(run), "--json", "--master", master]


def resumed(run, master: str = "local[2]") -> list[str]:
    """The arguments that resume the run at `run`."""
    return ["check", "--resume", str(run), "--json", "--master", master]


def counts(result: dict) -> tuple[int, int, int, str]:
    """What an interruption must not change."""
    return result["distinct"], result["generated"], result["depth"], result["verdict"]

"""Who may import whom, held by reading the code: the four packages, and the folders of each."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

ROOT = Path(__file__).parents[1]
BELOW = {
    "spec": {"spec"},
    "checker": {"checker", "spec"},
    "traces": {"traces", "checker", "spec"},
    "impl": {"impl", "spec"},
}


def module_of(path: Path) -> str:
    """The dotted name of a file, where a package's own is `package.__init__`."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


MODULES = {
    module_of(path): ast.parse(path.read_text(encoding="utf-8"))
    for package in BELOW
    for path in sorted((ROOT / package).rglob("*.py"))
}


def imported(module: str) -> Iterator[str]:
    """The dotted names that a module imports, anywhere in it; `from a import b` may mean `a.b`, or something in `a`."""
    for node in ast.walk(MODULES[module]):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}:{node.lineno}: imports are absolute"
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def packages_of(module: str) -> set[str]:
    """The top-level packages that a module imports."""
    return {name.removeprefix("kafkaproof.").partition(".")[0] for name in imported(module)}


def uses(module: str) -> set[str]:
    """The modules of ours that a module imports."""
    names = {name.removeprefix("kafkaproof.") for name in imported(module)}
    return {each for name in names for each in (name, f"{name}.__init__") if each in MODULES} - {module}


def is_protocol(module: str) -> bool:
    """Whether a module is of the wire protocol, which `impl` and `traces` share."""
    return module.startswith("spec.protocol.")


def wire_of(module: str) -> set[str]:
    """What a module of the wire protocol may import besides."""
    return {"kio"} if is_protocol(module) else set()


def children(folder: str, links: dict[str, set[str]]) -> nx.DiGraph:
    """Which of the modules and folders that stand directly in a folder import which others of them."""
    depth, found = folder.count(".") + 1, nx.DiGraph()
    for module, used in links.items():
        if module.startswith(f"{folder}."):
            ours = [each for each in used if each.startswith(f"{folder}.")]
            one = module.split(".")[depth]
            others = {each.split(".")[depth] for each in ours}
            found.add_edges_from((one, other) for other in others - {one, "__init__"} if one != "__init__")
    return found


def cycles(links: dict[str, set[str]]) -> list[str]:
    """The folders in which children import each other in a circle, each with the circle."""
    folders = sorted({module.rpartition(".")[0] for module in links})
    return [
        f"{folder}: {', '.join(sorted(circle))}"
        for folder in folders
        for circle in nx.strongly_connected_components(children(folder, links))
        if len(circle) > 1
    ]


@pytest.mark.parametrize("package", BELOW)
def test_a_package_imports_only_those_below_it(package):
    wrong = {
        module: above
        for module in MODULES
        if module.split(".")[0] == package and (above := packages_of(module) & BELOW.keys() - BELOW[package])
    }
    assert not wrong


def test_the_specification_imports_numpy_and_the_standard_library():
    allowed = {"spec", "numpy", *sys.stdlib_module_names}
    assert not {
        module: other
        for module in MODULES
        if module.startswith("spec.") and (other := packages_of(module) - allowed - wire_of(module))
    }


def test_no_rule_of_the_specification_reads_the_wire():
    assert not [
        module
        for module in MODULES
        if module.startswith("spec.") and not is_protocol(module) and any(map(is_protocol, uses(module)))
    ]


@pytest.mark.parametrize("package", BELOW)
def test_what_stands_in_a_folder_is_in_no_circle_of_imports(package):
    links = {module: uses(module) for module in MODULES if module.split(".")[0] == package}
    assert not cycles(links)


def test_a_circle_is_found_between_folders_though_no_modules_are_in_one():
    links = defaultdict(
        set,
        {
            "house.cellar.coal": {"house.attic.box"},
            "house.attic.box": set(),
            "house.attic.lamp": {"house.cellar.oil"},
            "house.cellar.oil": set(),
            "house.door": {"house.attic.lamp"},
        },
    )
    assert cycles(links) == ["house: attic, cellar"]
    assert not cycles(links | {"house.attic.lamp": set()})
    assert cycles(
        {"house.a.__init__": {"house.a.one"}, "house.a.one": {"house.a.two"}, "house.a.two": {"house.a.one"}}
    ) == ["house.a: one, two"]

"""Machine code: LLVM's text is compiled once on each machine, kept in the user's cache directory, and loaded.

A cached file is named by a hash of its inputs: the text, the version of LLVM, the processor, the speed. If nothing can
be cached, every process compiles for itself.
"""

from __future__ import annotations

import ctypes
import hashlib
from functools import cache
from itertools import count

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from kafkaproof.checker.basics.cache import cache_directory, keep, kept

SPEED = 2
_numbers = count()


class Code:
    """Machine code in this process, for as long as this object lives.

    A lower `speed` (from 0) compiles faster, for code that does not run for long.
    """

    def __init__(self, text: str, *names: str, speed: int = SPEED):
        builder = llvm.JITLibraryBuilder().add_object_img(_object_of(text, speed)).add_current_process()
        for name in names:
            builder.export_symbol(name)
        self._library = builder.link(_linker(), f"code{next(_numbers)}")

    def address(self, name: str) -> int:
        """The address of an exported name."""
        return self._library[name]

    def function(self, name: str, arguments: int):
        """An exported function, as a callable that takes integers and addresses, and returns an integer."""
        return ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * arguments)(self.address(name))

    def word(self, name: str) -> int:
        """The number stored at an exported name."""
        return ctypes.c_int64.from_address(self.address(name)).value

    def call(self, name: str, *arguments: int | np.ndarray) -> int:
        """Call an exported function with numbers and arrays; returns its result."""
        addresses = (a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments)
        return self.function(name, len(arguments))(*addresses)


@cache
def _target(speed: int = SPEED) -> llvm.TargetMachine:
    """This processor, for which code is compiled; at speed 0 each instruction by itself, which takes an eighth of the time."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(llvm.get_host_cpu_name(), features, speed, reloc="pic", codemodel="small")


@cache
def _linker() -> llvm.LLJIT:
    return llvm.create_lljit_compiler(_target(), use_jit_link=True)


def _object_of(text: str, speed: int) -> bytes:
    """The object file of a text, from the cache if it is there."""
    path = _place(_key(text, speed))
    code = kept(path)
    if code is None:
        code = compiled(text, speed)
        keep(path, code)
    return code


def is_made(text: str, speed: int) -> bool:
    """Whether the machine code of a text is kept on this machine."""
    return kept(_place(_key(text, speed))) is not None


def made_here(text: str) -> tuple[str, bytes]:
    """The machine code of a text, for machines whose processor is like this one, and its key; see `take`."""
    return _key(text, SPEED), _object_of(text, SPEED)


def take(text: str, made: tuple[str, bytes]) -> None:
    """Keep what `made_here` gave on another machine, if it can run here: then this one does not compile the text."""
    key, code = made
    path = _place(key)
    if key == _key(text, SPEED) and kept(path) is None:
        keep(path, code)


def _place(key):
    """Where the machine code of a key is kept."""
    return cache_directory() / f"{key}.o"


def _key(text, speed):
    target = _target()
    parts = (
        text,
        llvmlite.__version__,
        target.triple,
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
        str(speed),
    )
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def compiled(text: str, speed: int = SPEED) -> bytes:
    """The object file that LLVM compiles from a text."""
    target = _target(speed)
    module = llvm.parse_assembly(text)
    module.triple, module.data_layout = target.triple, str(target.target_data)
    options = llvm.create_pipeline_tuning_options(speed)
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)

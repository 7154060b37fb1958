"""Writing the text of one LLVM function: values, blocks, memory, jumps."""

from __future__ import annotations

from dataclasses import dataclass

NUMBER = "a number"


@dataclass(frozen=True)
class Value:
    """The value of an expression at run time: a 64-bit number, or the address of a record or an array.

    `kind` is `NUMBER` or the domain of the data at the address; `text` names the value.
    """

    kind: object
    text: str

    @property
    def constant(self) -> int | None:
        """The number, if it is known at compile time."""
        return None if self.text.startswith("%") else int(self.text)

    @property
    def type(self) -> str:
        """Its type in LLVM."""
        return type_of(self.kind)


def type_of(kind: object) -> str:
    """LLVM's type for values of a kind."""
    return "i64" if kind is NUMBER else "ptr"


def number(value: int) -> Value:
    """A known number, as 64 bits; from 2 ** 63 on, it is a bit pattern."""
    return Value(NUMBER, str(value - (1 << 64) if value >> 63 > 0 else value))


class Writer:
    """The text of one function as it grows. `live` is False after a jump, until the next block begins."""

    def __init__(self):
        self.live = True
        self._slots: list[str] = []
        self._lines: list[str] = []
        self._names = 0

    def name(self, prefix: str = "v") -> str:
        """A name that is not used yet."""
        self._names += 1
        return f"{prefix}{self._names}"

    def do(self, instruction: str) -> None:
        """Write an instruction that has no value."""
        self._lines.append(f"  {instruction}")

    def ask(self, instruction: str) -> str:
        """Write an instruction; returns the name of its value."""
        name = f"%{self.name()}"
        self._lines.append(f"  {name} = {instruction}")
        return name

    def number(self, instruction: str) -> Value:
        """Write an instruction whose value is a number."""
        return Value(NUMBER, self.ask(instruction))

    def slot(self, kind: object) -> str:
        """Memory for a local of this kind, zero until it is stored; LLVM turns it into registers."""
        name = f"%{self.name('slot')}"
        zero = "0" if kind is NUMBER else "null"
        self._slots += [f"  {name} = alloca {type_of(kind)}", f"  store {type_of(kind)} {zero}, ptr {name}"]
        return name

    def load(self, kind: object, slot: str) -> Value:
        """The value in a slot."""
        return Value(kind, self.ask(f"load {type_of(kind)}, ptr {slot}"))

    def store(self, value: Value, slot: str) -> None:
        """Put a value into a slot."""
        self.do(f"store {value.type} {value.text}, ptr {slot}")

    def leave(self, instruction: str) -> None:
        """End the block with a jump or a return."""
        self.do(instruction)
        self.live = False

    def jump(self, label: str) -> None:
        """Go on at a label, unless the block has ended."""
        if self.live:
            self.leave(f"br label %{label}")

    def fork(self, bit: str, yes: str, no: str) -> None:
        """Go on at `yes` where `bit` is 1, else at `no`."""
        self.leave(f"br i1 {bit}, label %{yes}, label %{no}")

    def begin(self, label: str) -> None:
        """Begin the block with this label."""
        self._lines.append(f"{label}:")
        self.live = True

    def body(self) -> str:
        """The text written, in braces."""
        return "\n".join(["{", "entry:", *self._slots, *self._lines, "}"])

"""Keccak-f[1600] as LLVM assembly, over several states at once (FIPS 202, sections 3.2 and 3.3).

A state is 25 words of 64 bits. Here each word is a vector with one element for each of `width` states, so
one instruction does the same step of all of them. LLVM turns the vectors into what the processor has.
"""

from collections.abc import Iterator

RATE_WORDS = 17
"""Words of a block of SHA3-256; a block has 136 bytes."""
STATE_WORDS = 25
FUNCTION = "absorb"

_ROUNDS = 24
_SIDE = range(5)


def round_constants() -> Iterator[int]:
    """The constants of the step iota, from their shift register (FIPS 202, algorithm 5)."""
    register = 1
    for _ in range(_ROUNDS):
        constant = 0
        for power in range(7):
            constant |= (register & 1) << ((1 << power) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        yield constant


def rotations() -> dict[tuple[int, int], int]:
    """How far the step rho rotates the word at (x, y) (FIPS 202, algorithm 2)."""
    found = {(0, 0): 0}
    x, y = 1, 0
    for step in range(24):
        found[x, y] = (step + 1) * (step + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    return found


def assembly(width: int) -> str:
    """A module with `void absorb(states, data, blocks)`.

    `states` holds for each of the 25 words the `width` states' values of it, one after the other; `data`
    the addresses of `width` inputs. Every input is read for `blocks` (at least one) blocks of 136 bytes.
    """
    return _Writer(width).module()


class _Writer:
    """Writes the instructions one by one; each gets the next number as its name."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._word = f"<{width} x i64>"
        self._rotate = f"@llvm.fshl.v{width}i64"
        self._lines: list[str] = []
        self._names = 0

    def module(self) -> str:
        """The text of the module."""
        self._begin()
        word, states = self._word, range(STATE_WORDS)
        inputs = [self._load("ptr", self._at("ptr", "%data", lane), 8) for lane in range(self._width)]
        places = [self._at(word, "%states", number) for number in states]
        first = [self._load(word, place, 8) for place in places]
        self._line("br label %block\nblock:")
        self._line("%number = phi i64 [0, %entry], [%next_number, %absorbed]")
        for i in states:
            self._line(f"%s{i} = phi {word} [{first[i]}, %entry], [%n{i}, %absorbed]")
        mixed = self._mixed_in(inputs)
        self._line("br label %round\nround:")
        self._line("%turn = phi i64 [0, %block], [%next_turn, %round]")
        for i in states:
            self._line(f"%r{i} = phi {word} [{mixed[i]}, %block], [%n{i}, %round]")
        for i, value in enumerate(self._round([f"%r{i}" for i in states])):
            self._line(f"%n{i} = or {word} {value}, zeroinitializer")
        self._loop("turn", str(_ROUNDS), "round", "absorbed")
        self._loop("number", "%blocks", "block", "end")
        for i, place in enumerate(places):
            self._line(f"store {word} %n{i}, ptr {place}, align 8")
        self._line("ret void\n}")
        self._line(f'attributes #0 = {{ "prefer-vector-width"="{64 * self._width}" nounwind }}')
        return "\n".join(self._lines)

    def _begin(self) -> None:
        word = self._word
        constants = ", ".join(f"i64 {value}" for value in round_constants())
        self._line(f"@constants = private constant [{_ROUNDS} x i64] [{constants}]")
        self._line(f"declare {word} {self._rotate}({word}, {word}, {word})")
        self._line(f"define void @{FUNCTION}(ptr %states, ptr %data, i64 %blocks) #0 {{\nentry:")

    def _loop(self, counter: str, end: str, body: str, behind: str) -> None:
        """Count up; back to `body` until `end` is reached, then on to the label `behind`."""
        self._line(f"%next_{counter} = add i64 %{counter}, 1")
        done = self._value(f"icmp eq i64 %next_{counter}, {end}")
        self._line(f"br i1 {done}, label %{behind}, label %{body}\n{behind}:")

    def _mixed_in(self, inputs: list[str]) -> list[str]:
        """The states with the next block of every input added."""
        skipped = self._value(f"mul i64 %number, {8 * RATE_WORDS}")
        starts = [self._value(f"getelementptr i8, ptr {place}, i64 {skipped}") for place in inputs]
        mixed = []
        for number in range(RATE_WORDS):
            value = "poison"
            for lane, start in enumerate(starts):
                item = self._load("i64", self._at("i64", start, number), 1)
                value = self._value(f"insertelement {self._word} {value}, i64 {item}, i32 {lane}")
            mixed.append(self._xor(f"%s{number}", value))
        return mixed + [f"%s{number}" for number in range(RATE_WORDS, STATE_WORDS)]

    def _round(self, state: list[str]) -> list[str]:
        """One round: theta, rho and pi, chi, iota (FIPS 202, 3.2)."""
        parity = [self._sum(state[x::5]) for x in _SIDE]
        effect = [self._xor(parity[x - 1], self._rotated(parity[(x + 1) % 5], 1)) for x in _SIDE]
        moved = [""] * STATE_WORDS
        for (x, y), distance in rotations().items():
            moved[y + 5 * ((2 * x + 3 * y) % 5)] = self._rotated(
                self._xor(state[x + 5 * y], effect[x]), distance
            )
        result = []
        for y in _SIDE:
            row = moved[5 * y : 5 * y + 5]
            for x in _SIDE:
                inverse = self._xor(row[(x + 1) % 5], self._splat(-1))
                masked = self._value(f"and {self._word} {inverse}, {row[(x + 2) % 5]}")
                result.append(self._xor(row[x], masked))
        constant = self._load("i64", self._at("i64", "@constants", "%turn"), 8)
        single = self._value(f"insertelement {self._word} poison, i64 {constant}, i32 0")
        zeros = f"<{self._width} x i32> zeroinitializer"
        spread = self._value(f"shufflevector {self._word} {single}, {self._word} poison, {zeros}")
        result[0] = self._xor(result[0], spread)
        return result

    def _rotated(self, value: str, distance: int) -> str:
        if distance == 0:
            return value
        word = self._word
        return self._value(
            f"call {word} {self._rotate}({word} {value}, {word} {value}, {word} {self._splat(distance)})"
        )

    def _sum(self, values: list[str]) -> str:
        """All values added, in pairs, so that the processor can work on several."""
        while len(values) > 1:
            pairs = [self._xor(*values[i : i + 2]) for i in range(0, len(values) - 1, 2)]
            values = pairs + values[len(values) // 2 * 2 :]
        return values[0]

    def _xor(self, one: str, other: str) -> str:
        return self._value(f"xor {self._word} {one}, {other}")

    def _splat(self, value: int) -> str:
        return f"<{', '.join([f'i64 {value}'] * self._width)}>"

    def _at(self, kind: str, start: str, index: int | str) -> str:
        return self._value(f"getelementptr {kind}, ptr {start}, i64 {index}")

    def _load(self, kind: str, place: str, alignment: int) -> str:
        return self._value(f"load {kind}, ptr {place}, align {alignment}")

    def _value(self, instruction: str) -> str:
        self._names += 1
        name = f"%v{self._names}"
        self._line(f"{name} = {instruction}")
        return name

    def _line(self, text: str) -> None:
        self._lines.append(text)

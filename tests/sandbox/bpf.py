"""An interpreter of classic BPF, as far as seccomp filters use it, to test a filter without a kernel."""

import struct
from collections.abc import Sequence

LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_ANY_BIT, MASK, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
COMPARISONS = {
    JUMP_EQUAL: lambda value, operand: value == operand,
    JUMP_AT_LEAST: lambda value, operand: value >= operand,
    JUMP_ANY_BIT: lambda value, operand: bool(value & operand),
}


def call(machine: int, number: int, arguments: Sequence[int] = ()) -> bytes:
    """`struct seccomp_data`, as the kernel shows a call to a filter."""
    six = [*arguments, *[0] * 6][:6]
    return struct.pack("=IIQ6Q", number, machine, 0, *six)


def run(program: bytes, data: bytes) -> int:
    """What the filter returns. A jump out of the program, or an unknown instruction, raises an error."""
    steps = [struct.unpack_from("=HBBI", program, place) for place in range(0, len(program), 8)]
    value = place = 0
    while True:
        code, jump_true, jump_false, operand = steps[place]
        place += 1
        if code == LOAD:
            value = struct.unpack_from("=I", data, operand)[0]
        elif code == MASK:
            value &= operand
        elif code == RETURN:
            return int(operand)
        else:
            place += jump_true if COMPARISONS[code](value, operand) else jump_false

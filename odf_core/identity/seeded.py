"""Keys of predefined accounts: drawn from a generator that is seeded with the name (metadata.md 3)."""

from odf_core.identity.errors import InvalidName, shown

_MASK = (1 << 64) - 1
_SEED_BYTES = 32


def seeded_key(name: str) -> bytes:
    """The 32 bytes that xoshiro256++ gives first when its state is the zero-padded UTF-8 of `name`.

    Raises `InvalidName` for a name of more than 32 bytes, which has no such key.
    """
    seed = name.encode()
    if len(seed) > _SEED_BYTES:
        raise InvalidName(
            f"{shown(name)} has more than {_SEED_BYTES} bytes, so no identifier is derived from it."
        )
    padded = seed.ljust(_SEED_BYTES, b"\x00")
    state = [int.from_bytes(padded[at : at + 8], "little") for at in range(0, _SEED_BYTES, 8)]
    return b"".join(_next(state).to_bytes(8, "little") for _ in range(4))


def _next(state: list[int]) -> int:
    """One step of xoshiro256++ (Blackman and Vigna); changes `state`."""
    result = (_rotated((state[0] + state[3]) & _MASK, 23) + state[0]) & _MASK
    shifted = (state[1] << 17) & _MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = _rotated(state[3], 45)
    return result


def _rotated(value: int, by: int) -> int:
    return (value << by | value >> (64 - by)) & _MASK

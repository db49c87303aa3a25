"""Decentralized identifiers of datasets and accounts (metadata.md 3)."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from odf_core.identity.base58 import base58_encode
from odf_core.identity.errors import InvalidDid, InvalidMultibase, shown
from odf_core.identity.multibase import multibase_decode, multibase_encode
from odf_core.identity.multicodec import ED25519_PUB
from odf_core.identity.seeded import seeded_key
from odf_core.identity.varint import encode_varint

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_KEY_HEADER = encode_varint(ED25519_PUB)
_KEY_BYTES = 32
_ODF = "did:odf:"
_KEY = "did:key:"
# CAIP-10: chain namespace, chain reference, account address.
_PKH = re.compile(r"did:pkh:([-a-z0-9]{3,8}):([-_A-Za-z0-9]{1,32}):([-.%A-Za-z0-9]{1,128})")


@dataclass(frozen=True, slots=True)
class KeyDid:
    """What `DatasetId` and `AccountId` share: an ed25519 public key of 32 bytes, written `did:odf:fed01…`.

    The constructor believes its argument; whatever comes from outside goes through `parse`,
    `from_bytes` or `from_did_key`, which raise `InvalidDid`.
    """

    public_key: bytes

    prefix: ClassVar[str] = _ODF

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `did:odf:` (exactly so) and multibase text in any final encoding."""
        return cls._from_text(text, _ODF)

    @classmethod
    def from_did_key(cls, text: str) -> Self:
        """Reads `did:key:` and multibase text: the same key under the method of the W3C."""
        return cls._from_text(text, _KEY)

    @classmethod
    def _from_text(cls, text: str, prefix: str) -> Self:
        if not text.startswith(prefix):
            raise InvalidDid(f"{shown(text)} is not an identifier: it has to start with {prefix!r}.")
        try:
            return cls.from_bytes(multibase_decode(text[len(prefix) :]))
        except (InvalidMultibase, InvalidDid) as error:
            raise InvalidDid(f"{shown(text)} is not an identifier: {error.message}") from error

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Reads the binary form: the codec `ed 01` and 32 bytes of key."""
        if not data.startswith(_KEY_HEADER):
            raise InvalidDid("Identifier is not an ed25519 public key: its bytes have to start with ed 01.")
        if len(data) != len(_KEY_HEADER) + _KEY_BYTES:
            raise InvalidDid(
                f"An ed25519 public key has {_KEY_BYTES} bytes, but the identifier holds "
                f"{len(data) - len(_KEY_HEADER)}."
            )
        return cls(bytes(data[len(_KEY_HEADER) :]))

    @classmethod
    def generate(cls) -> "tuple[Self, Ed25519PrivateKey]":
        """A new identifier and the private key that belongs to it."""
        # Imported here: a command that makes no keys need not load the library.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        private_key = Ed25519PrivateKey.generate()
        return cls(private_key.public_key().public_bytes_raw()), private_key

    @classmethod
    def from_name_seed(cls, name: str) -> Self:
        """The identifier that the deployed implementation gives a predefined account of this name.

        Nobody has a private key for it. Raises `InvalidName` for a name of more than 32 bytes.
        """
        return cls(seeded_key(name))

    def to_bytes(self) -> bytes:
        """`ed 01` and the key: 34 bytes."""
        return _KEY_HEADER + self.public_key

    @property
    def multibase(self) -> str:
        """`fed01…`: the identifier without its prefix, as folders are named."""
        return multibase_encode(_KEY_HEADER + self.public_key)

    def to_did_key(self) -> str:
        """`did:key:z6Mk…`."""
        return f"{_KEY}z{base58_encode(self.to_bytes())}"

    def __str__(self) -> str:
        return _ODF + self.multibase


@dataclass(frozen=True, slots=True)
class DatasetId(KeyDid):
    """Identity of a dataset; it stands in its Seed."""


@dataclass(frozen=True, slots=True)
class AccountId(KeyDid):
    """Identity of an account that is known by a key."""


@dataclass(frozen=True, slots=True)
class PkhAccountId:
    """Identity of a wallet, `did:pkh:` and a CAIP-10 account: text only, there is no binary form.

    The address may have 128 characters, as CAIP-10 says today; the deployed implementation reads 64.
    """

    namespace: str
    reference: str
    address: str

    @classmethod
    def parse(cls, text: str) -> "PkhAccountId":
        """Reads `did:pkh:namespace:reference:address`; raises `InvalidDid`."""
        match = _PKH.fullmatch(text)
        if match is None:
            raise InvalidDid(
                f"{shown(text)} is not a wallet's identifier of the form did:pkh:namespace:reference:address."
            )
        return cls(match[1], match[2], match[3])

    @property
    def bare_address(self) -> str:
        """The address without the `0x` of Ethereum-like chains."""
        return self.address.removeprefix("0x")

    def __str__(self) -> str:
        return f"did:pkh:{self.namespace}:{self.reference}:{self.address}"


def parse_account_id(text: str) -> AccountId | PkhAccountId:
    """Reads either form of an account's identifier; raises `InvalidDid`."""
    return PkhAccountId.parse(text) if text.startswith("did:pkh:") else AccountId.parse(text)

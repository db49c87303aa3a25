"""Two sides that do not follow each other: said with both heads, their last common block, and the flag."""

from typing import Literal, NoReturn

from odf_core.chain import Divergence
from odf_core.identity import Multihash
from odf_core.transfer.client.errors import DatasetsDiverged, DestinationAhead

Verb = Literal["pull", "push"]


def refuse_divergence(verb: Verb, local: Multihash, remote: Multihash, found: Divergence | None) -> NoReturn:
    """Raise `DestinationAhead` or `DatasetsDiverged`.

    `found` counts blocks of the local side (`ahead_a`) and of the remote side (`ahead_b`) after their
    last common block; None where the other chain could not be read.
    """
    extras = {
        "localHead": str(local),
        "remoteHead": str(remote),
        "commonAncestor": str(found.common_ancestor) if found and found.common_ancestor else None,
        "localAhead": found.ahead_a if found else None,
        "remoteAhead": found.ahead_b if found else None,
        "resolvedBy": "--force",
    }
    destination, source = ("local", "remote") if verb == "pull" else ("remote", "local")
    heads = f"local head {local}, remote head {remote}"
    if found is not None and (found.ahead_b if verb == "pull" else found.ahead_a) == 0:
        ahead = found.ahead_a if verb == "pull" else found.ahead_b
        other = "push" if verb == "pull" else "pull"
        raise DestinationAhead(
            f"The {destination} side is {_blocks(ahead)} ahead of the {source} one ({heads}): {other} "
            f"instead, or drop its newer blocks with `odf {verb} --force`.",
            objects=[local, remote],
            extras=extras,
        )
    common = "no common block is known"
    if found is not None and found.common_ancestor is not None:
        common = (
            f"last common block {found.common_ancestor}, then {_blocks(found.ahead_a)} only here and "
            f"{_blocks(found.ahead_b)} only there"
        )
    raise DatasetsDiverged(
        f"The two sides have diverged ({heads}; {common}): `odf {verb} --force` replaces the {destination} "
        f"chain by the {source} one.",
        objects=[local, remote, *([found.common_ancestor] if found and found.common_ancestor else [])],
        extras=extras,
    )


def _blocks(count: int) -> str:
    return f"{count} block" if count == 1 else f"{count} blocks"

"""Words of strangers inside our sentences."""


def shown(text: str, most: int = 300) -> str:
    """`text` on one line, cut, without what would steer a terminal and without its last full stop."""
    plain = "".join(character if character.isprintable() else " " for character in text[: 2 * most])
    return " ".join(plain.split())[:most].rstrip(".")

"""Why something in a query is not allowed, in words."""

_PLANS = {
    "Identifier": "a table or column cannot be named by a computed text",
    "Sample": "a sample differs from one run to the next",
    "ScriptTransformation": "a query cannot start a program",
    "SortBy": "SORT BY orders parts of the data that depend on the machine; use ORDER BY",
    "RepartitionByExpression": "how data are distributed is the engine's to decide",
    "UnresolvedHint": "hints to the engine are not part of a query",
    "WithRecursive": "recursive queries are not supported",
    "RelationTimeTravel": "a table is read as it was given, not AS OF another version",
    "CompoundBody": "a script of several statements is not a query",
    "UnresolvedExecuteImmediate": "a query cannot be computed and run",
}
_SAME = "its result has to follow from the tables alone, and be the same on every machine and day"


def reason(kind: str, name: str, tables: list[str]) -> str:
    """A clause that says what is wrong, for a kind and name of fault that the walker found."""
    match kind:
        case "function":
            return f"the function {name} is not among those that a query may call; {_SAME}"
        case "expression" | "nondeterministic":
            return f"{name} is not among the expressions that a query may use; {_SAME}"
        case "moment":
            return "a moment has to be written in digits: words like 'now' and computed texts read the clock"
        case "table":
            return f"{name} is not a table of this query; it may read {', '.join(tables) or 'none'}"
    return _PLANS.get(name, f"only queries over the given tables are evaluated, and {name} is something else")

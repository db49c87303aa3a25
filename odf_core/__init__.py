"""The Open Data Fabric as a library: formats, rules, storage, transfer, a coordinator in a box."""

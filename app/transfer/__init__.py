"""The Smart Transfer Protocol of the node: handshake, sessions, admission, commit."""

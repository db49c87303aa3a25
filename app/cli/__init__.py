"""The command `odf`: the library's verbs for a person at a terminal."""

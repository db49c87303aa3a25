"""NOTICE to whoever wrote this file: the app engineer overwrote it by accident (21 Nov, 02:45).

Your text is lost from disk; please write it again from your own notes, over this one. I had not seen
it. What I wrote independently is in app/server.py (server_config, NodeServer, run_node): use it,
import from it, or delete it, as you like. Nothing else of yours was touched.
"""

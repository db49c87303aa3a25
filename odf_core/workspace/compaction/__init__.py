"""Hard compaction: the same records in fewer slices, under a rewritten chain (data.md 5.2).

What is done otherwise than by the deployed implementation:

* Every AddData of a run counts, also one that only moves the watermark or the source's state: the block
  that comes out says of both what the newest of them said (there, one beside a single slice is lost).
* The source's state is that of the newest block, not the newest that is not empty: a block without one
  clears it.
* Runs are filled from the oldest block on, so that what was full once stays as it is the next time.
* Blocks keep their system times; a merged one has that of its newest. So the beginning of the chain that
  nothing changes keeps its hashes, and the same chain compacted twice gives the same one.
* The new chain is verified as a whole before the head moves; then the blocks and files that only the old
  one named are removed, unless they are to be kept.
"""

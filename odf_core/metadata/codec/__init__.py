"""The canonical FlatBuffers codec, made from the model's declarations (metadata.md 2)."""

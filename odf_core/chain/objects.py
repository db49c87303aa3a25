"""Which objects a block brings into its dataset."""

from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import AddData, ExecuteTransform, MetadataBlock


def new_objects(block: MetadataBlock) -> tuple[ObjectRef, ...]:
    """The slice and the checkpoint that the block's event adds, in this order, with their sizes."""
    event = block.event
    if not isinstance(event, AddData | ExecuteTransform):
        return ()
    objects = []
    if event.new_data is not None:
        objects.append(ObjectRef(ObjectKind.DATA_SLICE, event.new_data.physical_hash, event.new_data.size))
    if event.new_checkpoint is not None:
        checkpoint = event.new_checkpoint
        objects.append(ObjectRef(ObjectKind.CHECKPOINT, checkpoint.physical_hash, checkpoint.size))
    return tuple(objects)

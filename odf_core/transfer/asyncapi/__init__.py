"""AsyncAPI documents of both dialects, made from the message models.

`python -m odf_core.transfer.asyncapi deployed > asyncapi/deployed.yaml`, and likewise `published`.
"""

from odf_core.transfer.asyncapi.document import document, to_yaml

__all__ = ["document", "to_yaml"]

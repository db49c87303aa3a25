"""Fences of the operating system around an engine's process; where a machine has none, that is said."""

from odf_core.engines.sandbox.fence import Fence, raise_fence

__all__ = ["Fence", "raise_fence"]

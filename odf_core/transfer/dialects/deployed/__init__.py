"""The dialect of the deployed peers: snake_case, by position, Results, archives as arrays of numbers."""

from odf_core.transfer.dialects.deployed.dialect import DEPLOYED, DeployedDialect

__all__ = ["DEPLOYED", "DeployedDialect"]

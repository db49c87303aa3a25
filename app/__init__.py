"""odf-node: the repository server built on `odf_core`."""

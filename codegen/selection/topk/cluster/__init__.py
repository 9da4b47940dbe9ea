"""The kernel whose blocks share a row as a cluster."""

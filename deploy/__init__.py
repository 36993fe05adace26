"""What docs/deployment.md puts on a machine."""

"""French pages."""

"""`/api/v1/documents` and `/api/v1/chunks`."""

"""How pages write dates and times: ISO 8601, and times with their zone."""

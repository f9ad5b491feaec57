"""`/api/v1/sessions`: conversations and their messages."""

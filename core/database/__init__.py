"""Django's PostgreSQL backend, with connections that show only the rows of the present context."""

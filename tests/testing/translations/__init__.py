"""The texts of the sources: what is marked for translation, what is not, and the catalogs of both."""

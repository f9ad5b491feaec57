"""From a file to its elements; one module for each kind of file, `registry` chooses by content."""

"""How well documents are read: figures on files of which the truth is known."""

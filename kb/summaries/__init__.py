"""Summaries of documents: an abstract and key points, as sentences of the document with their places.

    chunks and their vectors ─▶ extractive.py chooses sentences ─▶ making.py keeps where they stand

Only places are kept; the words are read from the chunks, through the scope, each time.
"""

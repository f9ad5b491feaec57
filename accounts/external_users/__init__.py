"""External users of workspaces: who they are, what there is of them, and its deletion.

An external user is a string that a program gives. It belongs to a workspace: the same string in another
workspace is another person. There is no table of them; they are found in the rows that carry the string.

listing.py ─ who they are, with counts      deletion.py ─ removes one, with a receipt
jobs.py ─ large deletions in the worker
"""

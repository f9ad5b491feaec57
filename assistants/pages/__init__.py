"""Pages of assistants: their list, their form, and the ways in which each is reached.

words.py   settings in words          assistants.py  the list and the form of an assistant
fields.py  what a form shows, and     bindings.py    the ways of reaching one, and what counts by each
           what it sends
"""

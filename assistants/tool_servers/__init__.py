"""Tools of other people's servers, by the Model Context Protocol (ADR 70).

offers.py    what a server says of its tools, bounded
client.py    one look, or one call, through the guarded client
managing.py  what admins do with servers
api.py, pages.py  the same for programs and people
"""

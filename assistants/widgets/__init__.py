"""Widgets: an assistant embedded in other sites by one script (ADR 75).

    the site's server ── key ──▶ POST /api/v1/auth/token {binding_id, external_user_id}
    the visitor's browser ── token, Origin ──▶ /widgets/{binding}/…

visitors.py  who a token speaks for, and its conversation   cross_origin.py  which sites may ask
api.py       what a widget's script asks                    script.py        the script itself
"""

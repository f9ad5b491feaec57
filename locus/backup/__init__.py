"""Backups of the database and the files, consistent to one point in time (ADR 66).

`layout`     what a folder of backups has, and what it says of itself
`database`   a snapshot of PostgreSQL, its dump, and the way back
`creating`   makes a backup
`restoring`  checks a backup, and makes an installation of it
"""

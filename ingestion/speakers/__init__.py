"""Who speaks when, in a recording whose channels do not tell (`SPEAKER_TURNS`; docs/adr/0077).

Each sentence comes with the vector of its voice (`extract.media.voices`). `turns` says which of them belong
to one speaker; `model` keeps the network.
"""

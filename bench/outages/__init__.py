"""What is lost while a crowd works and something fails every minute? `python -m bench.outages`"""

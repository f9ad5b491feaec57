"""What tests and benchmarks share: stand-ins for other companies' services, live servers, scratch databases.

`bench` imports nothing else of `tests`, and tests import nothing of `bench`.
"""

"""Does one honest user notice what twenty hostile clients do? `python -m bench.soak`"""

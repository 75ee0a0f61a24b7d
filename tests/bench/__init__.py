"""`python -m tests.bench`: the engine's speed beside PyTorch's, on the same code, in one run.

`workloads.py` has the programs, written once in plain PyTorch; `worker.py` runs them, each engine
in a process of its own; `__main__.py` lets the engines take turns and prints the table.
"""

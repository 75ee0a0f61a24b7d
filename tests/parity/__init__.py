"""The engine beside PyTorch, on the same calls: `python -m tests.parity` prints how far they agree.

`calls.py` makes a call of `tests/samples.py` in either library and compares what comes out;
`checks.py` does that for every row (forward, gradient, second order, in place, errors); `walks.py`
runs random programs in both. The tests `test_ops.py` and `test_autograd.py` fail for any difference
that is found.
"""

"""The figures of `make bench`, each beside its peer and its floor, in one run: `python -m tests.bench [a … f]`.

`__main__` runs rounds of contenders and prints; `contenders` says what there is to measure; `stage` owns the browser
and the servers; `kernel` and `peer` run in the kernels, `floor` in processes of its own; `figures` counts.
"""

"""Grading: a learner's answer cells in our notebook, run by nbval in a sandbox, judged outside it.

`submission` reads what was handed in, `splice` puts the answers between our own cells, `sandbox`,
`kernel`, `fence` and `landlock` hold the learner's process, `nbval_run` runs it, `probe` writes
down what it saw there, `grader` judges and reruns, `classroom` grades many, `report` writes the
results. Lesson 00.
"""

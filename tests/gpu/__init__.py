"""What a machine with a GPU is asked, `python -m tests.gpu`: here on a pretended one."""

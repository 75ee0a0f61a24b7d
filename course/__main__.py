"""`python -m course`: the command line without the installed script."""

from course.cli import app

if __name__ == "__main__":
    app(prog_name="course")

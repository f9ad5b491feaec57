"""`python -m locus.serve.web FD`: one of several web servers, on the socket that they share.

uvicorn's own `--fd` takes the socket for one of Unix, and then lets small messages wait for larger ones.
"""

import os
import socket
import sys

import uvicorn
from uvicorn.main import main as command_line


def main(descriptor: int) -> None:
    """Serve until a signal."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "locus.settings")
    import django

    django.setup(set_prefix=False)
    server = uvicorn.Server(config_of_command_line())
    server.run([socket.socket(fileno=descriptor)])
    sys.exit(0 if server.started else 3)


def config_of_command_line() -> uvicorn.Config:
    """Return what uvicorn makes of the options that a single web server gets."""
    from locus.management.commands.serve import UVICORN

    options = command_line.make_context("uvicorn", ["locus.asgi:application", *UVICORN]).params
    names = uvicorn.Config.__init__.__code__.co_varnames
    return uvicorn.Config(**{name: value for name, value in options.items() if name in names})


if __name__ == "__main__":
    main(int(sys.argv[1]))

"""The child process: extracts one file, writes its findings to standard output as JSON lines.

`--serve DESCRIPTOR` makes it the server that forks such children.
"""

from __future__ import annotations

import argparse
import gc
import os
import socket
import sys
from pathlib import Path
from typing import IO

from core.confinement.limits import limit_this_process
from core.errors import DocumentError
from core.process.hardening import hide_memory
from extract.base import Limits, Request, UnitRead
from extract.errors import OutOfMemory
from extract.kinds import KINDS
from extract.registry import extract
from extract.sandbox.lines import dump_end, dump_error, dump_finding
from extract.sandbox.serving import serve


def main() -> None:
    """Extract the file named by the arguments, or serve a worker's requests."""
    hide_memory()
    arguments: list[str] | None = sys.argv[1:]
    if sys.argv[1] == "--serve":
        with socket.socket(fileno=int(sys.argv[2])) as control:
            arguments = serve(control)
    if arguments is not None:
        run(arguments)


def run(arguments: list[str]) -> None:
    """Extract a file within the limits given."""
    given = _parser().parse_args(arguments)
    # Hundreds of thousands of words and boxes form no cycles, but searching for cycles takes a tenth of the
    # time.
    gc.set_threshold(100_000)
    writable = [given.attachments] if given.attachments else []
    model = Path(given.speech_model)
    readable = [model] if given.deep and model.is_absolute() else []
    readable += [given.voice_graph] if given.voice_graph else []
    limit_this_process(given.memory_bytes, given.cpu_secs, given.path, writable, readable)
    with _private_stdout() as out:
        try:
            for finding in extract(given.path, _request(given)):
                out.write(dump_finding(finding))
                if isinstance(finding, UnitRead):
                    out.flush()
            out.write(dump_end())
        except DocumentError as error:
            out.write(dump_error(error))
        except MemoryError:
            out.write(dump_error(OutOfMemory()))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser()
    parser.add_argument("path", type=Path)
    parser.add_argument("--memory-bytes", type=int, required=True)
    parser.add_argument("--cpu-secs", type=int, required=True)
    parser.add_argument("--max-pages", type=int, required=True)
    parser.add_argument("--units", help="the only units to read, e.g. 3,7,9")
    parser.add_argument("--promised", choices=KINDS)
    parser.add_argument("--suffix", choices=KINDS["code"].extensions)
    parser.add_argument("--speech-model", required=True)
    parser.add_argument("--voice-graph", type=Path)
    parser.add_argument("--attachments", type=Path)
    parser.add_argument("--main-content", action="store_true")
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--pictures", action="store_true")
    parser.add_argument("--safe-mode", action="store_true")
    return parser


def _request(given: argparse.Namespace) -> Request:
    return Request(
        Limits(given.max_pages),
        units=tuple(map(int, given.units.split(","))) if given.units else None,
        deep=given.deep,
        safe_mode=given.safe_mode,
        pictures=given.pictures,
        main_content=given.main_content,
        promised=given.promised,
        suffix=given.suffix,
        speech_model=given.speech_model,
        voice_graph=given.voice_graph,
        attachments=given.attachments,
    )


def _private_stdout() -> IO[bytes]:
    """Return our own standard output, and send what C libraries print to the log."""
    ours = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(ours, "wb")


main()

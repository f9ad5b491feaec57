"""How static files are stored: under names with a hash, our own compressed."""

from __future__ import annotations

from collections.abc import Iterator

from servestatic.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compresses what every visitor loads.

    To compress the pages of libraries too (admin, API docs) took most of the first start, for files that an
    operator opens now and then.
    """

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Compress our own files: they lie at the top, those of an app in a folder of its name."""
        yield from super().compress_files({path for path in paths if "/" not in path})

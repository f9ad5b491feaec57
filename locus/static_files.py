"""Storage of static files: names with a hash, our own files compressed."""

from __future__ import annotations

from collections.abc import Iterator

from servestatic.storage import CompressedManifestStaticFilesStorage


class StaticStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Compresses the files that every visitor loads.

    Compressing libraries' pages too (admin, API docs) took most of the first start, for files that an
    operator opens now and then.
    """

    def compress_files(self, paths: set[str]) -> Iterator[tuple[str, str]]:
        """Compress our own files: they are at the top level, those of an app in a folder of its name."""
        yield from super().compress_files({path for path in paths if "/" not in path})

"""A storage as an object store is one: names and contents, but no folders, and no paths."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from django.core.files.base import ContentFile, File
from django.core.files.storage import FileSystemStorage, Storage
from django.utils.deconstruct import deconstructible


@deconstructible
class RemoteStorage(Storage):
    """Keeps its files in a folder that nobody else knows of."""

    def __init__(self, location: str) -> None:
        self._files = FileSystemStorage(location)
        self._root = Path(location)

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        assert mode == "rb"
        with self._files.open(name) as file:
            return ContentFile(file.read(), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        return self._files.save(name, content)

    def delete(self, name: str) -> None:
        path = self._root / name
        if path.is_file():
            path.unlink()
            for folder in path.relative_to(self._root).parents:
                if not any((self._root / folder).iterdir()) and folder != Path():
                    (self._root / folder).rmdir()

    def exists(self, name: str) -> bool:
        return (self._root / name).is_file()

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        return self._files.listdir(path) if (self._root / path).is_dir() else ([], [])

    def size(self, name: str) -> int:
        return self._files.size(name)

    def get_modified_time(self, name: str) -> datetime:
        return self._files.get_modified_time(name)

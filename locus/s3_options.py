"""The options of `kb.s3_storage.S3Storage`; imported only where `STORAGE=s3` is set."""

from __future__ import annotations

from typing import Any

from botocore.config import Config

CONNECT_SECS = 5
# For one answer, or for more of one.
READ_SECS = 30
TRIES = 3
CONNECTIONS = 32


def s3_options(
    *, bucket: str, prefix: str, endpoint_url: str, region: str, keys: tuple[str, str], addressing: str
) -> dict[str, Any]:
    """Return the options for a bucket; without keys boto3 looks for some where it always does."""
    if addressing == "auto" and endpoint_url:
        addressing = "path"  # few servers of one's own have a host name for each bucket
    config = Config(
        connect_timeout=CONNECT_SECS,
        read_timeout=READ_SECS,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        max_pool_connections=CONNECTIONS,
        signature_version="s3v4",
        s3={"addressing_style": addressing},
        # Stores other than Amazon's don't all know its newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )
    options: dict[str, Any] = {
        "bucket_name": bucket,
        "location": prefix,
        "region_name": region,
        "client_config": config,
    }
    if endpoint_url:
        options["endpoint_url"] = endpoint_url
    if all(keys):
        options |= {"access_key": keys[0], "secret_key": keys[1]}
    return options

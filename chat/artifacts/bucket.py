"""Artifacts in a bucket of S3, or of a server that speaks like it."""

from typing import Any

import boto3
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from storages.backends.s3 import S3Storage

from chat.singleton import once

CONNECT_SECONDS = 2
READ_SECONDS = 5
TRIES = 2
"""A run waits for no bucket that is away: its row keeps what cannot be put there."""

MOST_AT_ONCE = 64
"""Connections of a process; a worker's threads share them."""


class Bucket(S3Storage):  # type: ignore[misc] # it ships no types
    """Objects of a bucket; keys come from where Amazon's own programs find them.

    All threads of a process share one client, which costs 60 ms and some megabytes to make.
    """

    def __init__(self, **options: Any) -> None:
        own = "path" if options.get("endpoint_url") else "auto"
        config = Config(
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            retries={"total_max_attempts": TRIES, "mode": "standard"},
            max_pool_connections=MOST_AT_ONCE,
            s3={"addressing_style": own},
            # Other servers than Amazon's know no checksums beside the digest of the request.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        transfer = TransferConfig(use_threads=False)
        super().__init__(**options, client_config=config, transfer_config=transfer)
        self._resource = once(self._connect)

    @property
    def connection(self) -> Any:
        """Return the resource that all threads share."""
        return self._resource()

    def _connect(self) -> Any:
        return boto3.Session().resource(
            "s3",
            region_name=self.region_name,
            endpoint_url=self.endpoint_url,
            config=self.client_config,
        )

"""Blobs in memory keep the contract."""

import pytest

from contracts.blob_store import BlobStoreContract
from mnemolog.streams.blobs import InMemoryBlobs


class TestInMemoryBlobs(BlobStoreContract):
    @pytest.fixture
    def store(self):
        return InMemoryBlobs()

"""What a conversation may be asked under, for its pages."""

import pytest

from chat.policies import publish_seeds


@pytest.fixture
def policies(db: None) -> None:
    """Publish the policies of a fresh installation."""
    publish_seeds()

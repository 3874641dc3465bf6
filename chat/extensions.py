"""The extensions of this process: loaded once, as Django starts, in web, worker and commands."""

import logging

from django.conf import settings

from agents.extensions.loading import Extensions, load, named_in
from chat.singleton import once

logger = logging.getLogger(__name__)


@once
def extensions() -> Extensions:
    """Return what was loaded and what was not, which is said in the log."""
    found = load(named_in(settings.EXTENSIONS), settings.PROVIDERS.names)
    for one in found.loaded:
        logger.info("Extension %s, from %s", one.extension, one.source)
    for name, why in found.not_loaded.items():
        logger.error("The extension %s is not loaded: %s", name, why)
    return found

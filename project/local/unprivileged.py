"""Run Postgres when we are root, which it refuses, without a new system user.

First choice is a user namespace: the server believes to be nobody, its files stay ours. Where that
is forbidden it becomes nobody in earnest and owns its folders, with the one capability it needs to
pass through ours; no parent folder's mode is touched.
"""

import os
import shutil
import subprocess
from pathlib import Path

from project.errors import CannotStart

NOBODY = 65534
NAMESPACE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")
SETPRIV = (
    "setpriv",
    f"--reuid={NOBODY}",
    f"--regid={NOBODY}",
    "--clear-groups",
    "--inh-caps=-all,+dac_override",
    "--ambient-caps=-all,+dac_override",
    "--bounding-set=-all,+dac_override",
)
CAN_WORK = 'test -x "$1" && shift && for folder; do test -O "$folder" || exit 1; done'


def prefix(program: Path, folders: list[Path]) -> tuple[str, ...]:
    """Return what to write before a command so that it does not run as root; nothing if we are not.

    The folders become the server's own. Raises CannotStart when there is no way.
    """
    if os.getuid() != 0:
        return ()
    if _works(NAMESPACE, program, folders):
        return NAMESPACE
    if shutil.which("setpriv"):
        for folder in folders:
            _give_away(folder)
        if _works(SETPRIV, program, folders):
            return SETPRIV
    raise CannotStart(
        "Postgres refuses to run as root, and neither unshare nor setpriv can help here: "
        "run this as an ordinary user, or set DATABASE_URL."
    )


def _works(before: tuple[str, ...], program: Path, folders: list[Path]) -> bool:
    if shutil.which(before[0]) is None:
        return False
    check = [*before, "sh", "-c", CAN_WORK, "sh", str(program), *map(str, folders)]
    return subprocess.run(check, capture_output=True, check=False).returncode == 0


def _give_away(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

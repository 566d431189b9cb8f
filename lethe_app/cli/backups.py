"""`lethe backup` and `lethe restore`. Neither needs data that can be opened."""

from __future__ import annotations

import argparse
from pathlib import Path

from lethe_app.cli.bundles import describe_contents
from lethe_app.cli.chat import build_progress_printer, print_json
from lethe_app.domain.bundle import Backup
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.backups import back_up, list_backups, read_backups, read_contents, restore_backup


async def run_backup(paths: Paths, options: argparse.Namespace) -> int:
    """Run `lethe backup`: write everything into one file."""
    file = await back_up(paths.home, options.file, build_progress_printer("Backing up", quiet=options.json))
    contents = read_contents(file)
    if options.json:
        print_json({"file": str(file), "left_out": contents.left_out, "holds": contents.counts})
        return 0
    print(f"Everything was backed up to {file}: {describe_contents(contents.counts)}.")
    for name in contents.left_out:
        print(f"Left out, because it cannot be read: {name}")
    return 0


async def run_restore(paths: Paths, options: argparse.Namespace) -> int:
    """Run `lethe restore`: list the backups, or restore one of them or a file."""
    if not options.backup:
        return _print_list(paths, as_json=options.json)
    file = _find(options.backup, list_backups(paths.home))
    replaced = await restore_backup(paths, file, build_progress_printer("Restoring", quiet=options.json))
    if options.json:
        print_json({"file": str(file), "replaced": str(replaced or "")})
        return 0
    print(f"{file.name} was restored to {paths.home}.")
    if replaced is not None:
        print(f"What was there is kept as a backup. To get it back: lethe restore {replaced.name}")
    return 0


def _find(text: str, backups: list[Backup]) -> Path:
    """Return the backup meant by a number or name of the list, or by a path."""
    if text.isdigit() and not 1 <= int(text) <= len(backups):
        known = f"There are {len(backups)} backups" if len(backups) != 1 else "There is 1 backup"
        raise LetheError(f"There is no backup {text}.", f"{known}: “lethe restore” lists what can be restored.")
    if text.isdigit():
        return backups[int(text) - 1].path
    return next((backup.path for backup in backups if backup.path.name == text), Path(text).expanduser().absolute())


def _print_list(paths: Paths, *, as_json: bool) -> int:
    rows = [
        {
            "file": str(one.backup.path),
            "made": f"{one.backup.created:%Y-%m-%d %H:%M}",
            "kind": one.backup.kind.value,
            "size": one.backup.size,
            "holds": describe_contents(one.contents.counts) if one.contents else one.trouble,
        }
        for one in read_backups(paths.home)
    ]
    if as_json:
        print_json({"backups": rows})
        return 0
    for number, row in enumerate(rows, start=1):
        print("{number:3}  {made}  {kind:9}  {size:13,} bytes  {file}\n     {holds}".format(number=number, **row))
    if not rows:
        print(f"There are no backups in {paths.home / 'backups'}. Restore one from elsewhere by “lethe restore FILE”.")
    else:
        print("Restore one by “lethe restore NUMBER”, or one from elsewhere by “lethe restore FILE”.")
    return 0

"""`lethe doctor`: print the checks of the installation, with a remedy for each failure."""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from lethe_app.cli.bundles import describe_contents
from lethe_app.domain.model import EngineCheck
from lethe_app.errors import LetheError
from lethe_app.paths import Paths
from lethe_app.services.maintenance.integrity import request_repair
from lethe_app.services.maintenance.repair import StartRemedy, find_remedies, repair_database, set_settings_aside

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def repair_start(paths: Paths, error: LetheError) -> bool:
    """Repair what kept Lethe from starting, if possible; print to stderr what was done, and return whether anything was. Raise
    LetheError.
    """
    print(f"lethe: {error.message}", file=sys.stderr)
    remedies = find_remedies(paths, error)
    if StartRemedy.REPAIR in remedies:
        repair = await repair_database(paths)
        print(f"Saved: {describe_contents(repair.contents.counts)}.\n{repair.losses}", file=sys.stderr)
        if (richer := repair.richer_backup) is not None:
            print(f"A backup has more messages. To restore it: lethe restore {richer.backup.path.name}", file=sys.stderr)
    elif StartRemedy.DEFAULT_SETTINGS in remedies:
        print(f"The default settings apply; your file is kept as {set_settings_aside(paths)}.", file=sys.stderr)
    return bool({StartRemedy.REPAIR, StartRemedy.DEFAULT_SETTINGS}.intersection(remedies))


async def report_checks(
    paths: Paths, build: Callable[[Paths], Awaitable[AppServices]], *, as_json: bool, repairs: int = 0
) -> int:
    """Run and print all checks; return 0 if none failed. A data folder that cannot be opened is repaired up to so many times,
    or else reported as a failed check.
    """
    try:
        services = await build(paths)
        services.integrity.found.add(lambda found: print(f"lethe: {found.message}", file=sys.stderr))
        if repairs and not await services.integrity.check() and services.integrity.needs_repair:
            await services.close()
            request_repair(paths)
            services = await build(paths)
    except LetheError as error:
        if repairs and await repair_start(paths, error):
            return await report_checks(paths, build, as_json=as_json, repairs=repairs - 1)
        checks = [EngineCheck("Your data", passed=False, detail=error.message, remedy=error.remedy)]
    else:
        try:
            checks = await services.doctor.run_checks()
        finally:
            await services.close()
    checks = [replace(check, remedy="") if check.passed else check for check in checks]
    has_passed = all(check.passed for check in checks)
    if as_json:
        print(json.dumps({"passed": has_passed, "checks": [vars(check) for check in checks]}))
        return 0 if has_passed else 1
    for check in checks:
        print(f"{'✓' if check.passed else '✗'} {check.title}: {check.detail}")
        if check.remedy:
            print(f"  → {check.remedy}")
    return 0 if has_passed else 1

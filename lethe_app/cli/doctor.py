"""`lethe doctor`: print the checks of the installation, with a remedy for each failure."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from lethe_app.domain.model import EngineCheck
from lethe_app.errors import LetheError
from lethe_app.paths import Paths

if TYPE_CHECKING:
    from lethe_app.composition.app_services import AppServices


async def report_checks(paths: Paths, build: Callable[[Paths], Awaitable[AppServices]], *, as_json: bool) -> int:
    """Run and print all checks; return 0 if none failed. A data folder that cannot be opened is reported as a failed check."""
    try:
        services = await build(paths)
    except LetheError as error:
        checks = [EngineCheck("Your data", passed=False, detail=error.message, remedy=error.remedy)]
    else:
        try:
            checks = await services.doctor.run_checks()
        finally:
            await services.close()
    print(format_checks_json(checks) if as_json else format_checks(checks))
    return 0 if all(check.passed for check in checks) else 1


def format_checks(checks: list[EngineCheck]) -> str:
    """Format each check in one line: a tick or a cross, title, finding; then the remedy of a failed one."""
    lines = []
    for check in checks:
        lines.append(f"{'✓' if check.passed else '✗'} {check.title}: {check.detail}")
        if check.remedy and not check.passed:
            lines.append(f"  → {check.remedy}")
    return "\n".join(lines)


def format_checks_json(checks: list[EngineCheck]) -> str:
    """Format the checks as JSON; a passed check has an empty remedy."""
    check_rows = [{**vars(check), "remedy": "" if check.passed else check.remedy} for check in checks]
    return json.dumps({"passed": all(check.passed for check in checks), "checks": check_rows})

"""What is put in order in the home when it is opened, and what the user is told of it."""

from __future__ import annotations

from collections.abc import Sequence

from lethe_app.config.settings import Settings
from lethe_app.errors import FileError, LetheError
from lethe_app.paths import Paths
from lethe_app.storage.home_files import delete_leftovers, make_private


def tidy_home(paths: Paths) -> list[LetheError]:
    """Delete what killed backups and exports left behind, and make the files of the home private; return what to tell the
    user. Only while the home is locked.
    """
    delete_leftovers(paths.home, paths.models)
    if not make_private(*{paths.home, paths.home if paths.cache.is_relative_to(paths.home) else paths.cache}):
        return []
    message = "Other users of this computer could open files or folders of Lethe; now only you can."
    return [LetheError(message, f"They are in {paths.home}.")]


def describe_unusable_settings(problems: Sequence[FileError]) -> list[LetheError]:
    """Return one notice of all values of the settings file that cannot be used."""
    if not problems:
        return []
    details = "; ".join(f"“{_title(problem)}” {problem.problem}" for problem in problems)
    values = "A setting has a value" if len(problems) == 1 else f"{len(problems)} settings have values"
    message = f"{values} that this version cannot use, so the default applies: {details}."
    return [LetheError(message, f"{problems[0].path.name} keeps what it says until you choose something else.")]


def _title(problem: FileError) -> str:
    name = problem.field.partition(".")[0].partition("[")[0]
    title = Settings.model_fields[name].title or name
    return title if name == problem.field else f"{title} ({problem.field})"

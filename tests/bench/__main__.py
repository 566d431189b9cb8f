"""`make bench`: runs every measurement in turn and collects the figures in build/bench.json."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
RESULT = HERE.parent.parent / "build" / "bench.json"


def measure(script: Path) -> dict[str, object]:
    """Run one script, show its table, and return its last line as an object."""
    print(f"\n── {script.stem} " + "─" * (60 - len(script.stem)), flush=True)
    command = [sys.executable, "-m", f"tests.bench.{script.stem}", "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = run.stdout.rstrip().splitlines()
    print("\n".join(lines[:-1]) if run.returncode == 0 else run.stdout + run.stderr, flush=True)
    return json.loads(lines[-1]) if run.returncode == 0 else {"failed": run.returncode}


def main() -> int:
    """All scripts by name, or those named on the command line."""
    wanted = set(sys.argv[1:])
    scripts = [path for path in sorted(HERE.glob("*.py")) if not path.stem.startswith("_") and path.stem != "report"]
    figures = {path.stem: measure(path) for path in scripts if not wanted or path.stem in wanted}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"\nWritten to {RESULT.relative_to(RESULT.parent.parent)}")
    return 1 if any("failed" in figure for figure in figures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

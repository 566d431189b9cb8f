"""`make bench`: runs every measurement in turn and collects the figures in build/bench.json."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
NEEDS_DATA = {"locomo", "long_turns", "ordinary_turns"}
NEEDS_MODEL = {"dictation"}
RESULT = HERE.parent.parent / "build" / "bench.json"
BUNDLE = HERE.parent.parent / "build" / "package" / "dist" / "lethe"


def measure(script: Path, *extra: str) -> dict[str, object]:
    """Run one script, show its table, and return its last line as an object."""
    print(f"\n── {script.stem} " + "─" * (60 - len(script.stem)), flush=True)
    command = [sys.executable, "-m", f"tests.bench.{script.stem}", "--json", *extra]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = run.stdout.rstrip().splitlines()
    print("\n".join(lines[:-1]) if run.returncode == 0 else run.stdout + run.stderr, flush=True)
    return json.loads(lines[-1]) if run.returncode == 0 else {"failed": run.returncode}


def main() -> int:
    """All scripts by name, or those named on the command line; what needs foreign data runs only where that is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="measurements to run; all of them if none is named")
    parser.add_argument(
        "--locomo", default="", metavar="FILE", help="conversations in the LoCoMo format, for the benches that need them"
    )
    parser.add_argument("--speech-model", default="", metavar="FILE", help="Whisper model in the ggml format, for dictation")
    wanted = parser.parse_args()
    extra = {name: ["--data", wanted.locomo] for name in NEEDS_DATA} if wanted.locomo else {}
    extra |= {"dictation": ["--model", wanted.speech_model]} if wanted.speech_model else {}
    scripts = [path for path in sorted(HERE.glob("*.py")) if not path.stem.startswith("_") and path.stem != "report"]
    scripts = [path for path in scripts if path.stem not in NEEDS_DATA | NEEDS_MODEL or path.stem in extra]
    scripts = [path for path in scripts if path.stem != "bundle" or BUNDLE.is_dir()]  # make package comes first
    chosen = [path for path in scripts if not wanted.names or path.stem in wanted.names]
    figures = {path.stem: measure(path, *extra.get(path.stem, [])) for path in chosen}
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"\nWritten to {RESULT.relative_to(RESULT.parent.parent)}")
    return 1 if any("failed" in figure for figure in figures.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

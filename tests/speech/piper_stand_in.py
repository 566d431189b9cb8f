"""Stand-in for the command line of Piper: for every line of its input a WAV file in the folder, and a line that names it.

A hundredth of a second of sound for each character; a line “crash” ends it, as text without any sound ends Piper.
"""

from __future__ import annotations

import sys
import wave
from pathlib import Path

RATE = 22050

if __name__ == "__main__":
    if "--help" in sys.argv:
        print("usage: piper [-h] -m MODEL [--output_dir OUTPUT_DIR]")  # noqa: T201 - it is a program
        sys.exit()
    arguments = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    print(f"DEBUG:__main__:{arguments}", file=sys.stderr, flush=True)  # noqa: T201 - it is a program
    for number, line in enumerate(sys.stdin):
        text = line.strip()
        if text == "crash":
            sys.exit("wave.Error: # channels not specified")
        path = Path(arguments["-d"]) / f"{number}.wav"
        with wave.open(str(path), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", "not compressed"))
            file.writeframes(bytes(2 * int(len(text) * RATE / 100 * float(arguments["--length_scale"]))))
        print(f"INFO:__main__:Wrote {path}", file=sys.stderr, flush=True)  # noqa: T201 - it is a program

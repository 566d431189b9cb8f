#!/bin/sh
# A desktop session with an accessibility bus: session.sh PYTHON DATA_FOLDER KEYS... Prints what walk.py prints.
python=$1; data=$2; shift 2
openbox > /dev/null 2>&1 &
/usr/libexec/at-spi-bus-launcher --launch-immediately > /dev/null 2>&1 &
sleep 1
# A window that is shown before there is a window manager does not get the focus; openbox sets the number of desktops.
for _ in $(seq 300); do xdotool get_num_desktops > /dev/null 2>&1 && break; sleep 0.1; done
QT_QPA_PLATFORM=xcb QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 "$python" -m tests.ui.screen_reader.window "$data" > /dev/null 2>&1 &
window=$!
/usr/bin/python3 tests/ui/screen_reader/walk.py "$@"
result=$?
kill "$window"
wait "$window"
exit $result

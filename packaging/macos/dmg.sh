#!/bin/sh
# Lethe.app as a disk image with a link to the programs folder. Run “python3 packaging/package.py” first.
# Written beside the Linux recipe and never run: nobody had a Mac yet.
set -eu
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml)
stage=build/package/dmg
rm -rf "$stage"
mkdir -p "$stage" dist
cp -R build/package/dist/Lethe.app "$stage/"
ln -s /Applications "$stage/Applications"
cat > "$stage/Read me.txt" <<END
Drag Lethe onto Applications.
Your conversations are kept in ~/Library/Application Support/Lethe; deleting Lethe leaves them alone.
END
hdiutil create -volname Lethe -srcfolder "$stage" -ov -format UDZO "dist/lethe-$version-macos.dmg"
if [ -n "${LETHE_NOTARY_PROFILE:-}" ]; then
  xcrun notarytool submit "dist/lethe-$version-macos.dmg" --keychain-profile "$LETHE_NOTARY_PROFILE" --wait
  xcrun stapler staple "dist/lethe-$version-macos.dmg"
fi

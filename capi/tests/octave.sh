#!/usr/bin/env bash
# Octave's own tests of cholupdate, cholinsert, choldelete and cholshift, and of the QR functions, with the drop-in library preloaded. Real
# matrices use the drop-in; complex matrices and QR use qrupdate. The same number of tests must pass as without it: Debian's Octave 7.3
# misses its own bound in one complex downdate. `apt-get install octave` first. Argument: the drop-in library.
set -euo pipefail
library=$(realpath "$1")

script=$(mktemp --suffix .m)
trap 'rm -f "$script"' EXIT
cat >"$script" <<M
for file = {$(find /usr/share/octave -path '*corefcn*' \( -name 'chol.cc-tst' -o -name 'qr.cc-tst' \) -printf "'%p' ")}
  [passed, all] = test (file{1}, "quiet");
  printf ("%s: %d of %d\n", file{1}, passed, all);
end
M
# The environment is set for Octave alone.
octave() { env "$@" 2>&1 | grep --invert-match 'while preparing to exit'; }
cli=(octave-cli --no-init-file --quiet)
without=$(octave "${cli[@]}" "$script")
with=$(octave "LD_PRELOAD=$library" "${cli[@]}" "$script")
echo "$with"
[ "$(grep --count 'of [1-9]' <<<"$with")" = 2 ]
[ "$with" = "$without" ]

# Checks that the real routines tested above are those of the drop-in library.
calls='R = chol ([4 2; 2 5]); cholupdate (R, [1; 2]); cholupdate (R, [1; 1], "-"); cholinsert (R, 1, [4; 1; 1]); choldelete (R, 2);
    cholshift (R, 1, 2);'
bound=$(octave LD_DEBUG=bindings "LD_PRELOAD=$library" "${cli[@]}" --eval "$calls" |
    grep --count "liboctave.* to $library .*\`dch\(1up\|1dn\|inx\|dex\|shx\)_'")
[ "$bound" = 5 ]
echo "octave: ok, $bound of 5 symbols are those of the drop-in"

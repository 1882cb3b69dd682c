#!/usr/bin/env bash
# Octave's own tests of cholupdate, cholinsert, choldelete and cholshift, and of their neighbours for QR, with the drop-in preloaded: real
# ones go through it, complex ones and QR fall through to qrupdate. As many must pass as without it: Debian's Octave 7.3 misses its own
# bound in one complex downdate. `apt-get install octave` first. Argument: the drop-in.
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
# Settings of the environment are for Octave alone.
octave() { env "$@" 2>&1 | grep --invert-match 'while preparing to exit'; }
cli=(octave-cli --no-init-file --quiet)
without=$(octave "${cli[@]}" "$script")
with=$(octave "LD_PRELOAD=$library" "${cli[@]}" "$script")
echo "$with"
[ "$(grep --count 'of [1-9]' <<<"$with")" = 2 ]
[ "$with" = "$without" ]

# What is real and tested at length above was really that of the drop-in.
calls='R = chol ([4 2; 2 5]); cholupdate (R, [1; 2]); cholupdate (R, [1; 1], "-"); cholinsert (R, 1, [4; 1; 1]); choldelete (R, 2);
    cholshift (R, 1, 2);'
bound=$(octave LD_DEBUG=bindings "LD_PRELOAD=$library" "${cli[@]}" --eval "$calls" |
    grep --count "liboctave.* to $library .*\`dch\(1up\|1dn\|inx\|dex\|shx\)_'")
[ "$bound" = 5 ]
echo "octave: ok, $bound of 5 symbols are those of the drop-in"

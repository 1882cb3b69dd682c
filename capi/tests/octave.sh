#!/usr/bin/env bash
# Octave's own tests of cholupdate, cholinsert, choldelete and cholshift, and of the QR functions, with the drop-in library preloaded.
# Real and complex matrices use the drop-in; QR uses qrupdate. At least as many tests of a file must pass as without it: on some
# processors Debian's Octave 7.3 misses its own bound in one complex downdate. `apt-get install octave` first. Argument: the drop-in
# library.
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
passed() { sed -n 's/.*: \([0-9]*\) of [1-9].*/\1/p' <<<"$1"; }
without=$(octave "${cli[@]}" "$script")
with=$(octave "LD_PRELOAD=$library" "${cli[@]}" "$script")
echo "$with"
[ "$(passed "$with" | wc -l)" = 2 ]
paste <(passed "$with") <(passed "$without") | while read -r ours theirs; do [ "$ours" -ge "$theirs" ]; done

# Checks that the routines tested above are those of the drop-in library, for numbers of every type: Octave shifts in double precision.
calls='for type = {@single, @double}
    for part = [0, i]
      R = type{1} (chol ([4 2+part; 2-part 5])); x = type{1} ([1; 1+part]);
      cholupdate (R, x); cholupdate (R, x, "-"); cholinsert (R, 1, [4; x]); choldelete (R, 2); cholshift (R, 1, 2);
    end
  end'
bound=$(octave LD_DEBUG=bindings "LD_PRELOAD=$library" "${cli[@]}" --eval "$calls" |
    grep --count "liboctave.* to $library .*\`[sdcz]ch\(1up\|1dn\|inx\|dex\|shx\)_'")
[ "$bound" = 18 ]
echo "octave: ok, $bound of 18 symbols are those of the drop-in"

"""Lets PyTorch be imported without NVIDIA's libraries, which are gigabytes and useless on a machine without a GPU.

PyTorch's wheel for Linux links to thirteen of them. In their place it gets small libraries, made with gcc, in which every function that it
imports returns an error. `pip install --no-deps torch` comes first.
"""

from __future__ import annotations

import subprocess
import sysconfig
import tempfile
from pathlib import Path

SITE = Path(sysconfig.get_path("purelib"))
# What is not NVIDIA's.
SYSTEM = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "libstdc++.", "ld-linux", "libcuda.", "libz.", "libquadmath.")
PREFIXES = ("__cuda", "cu", "nccl", "nvshmem", "nvrtc", "nvJit", "nvtx")


def lines(*command: str | Path) -> list[str]:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def main() -> None:
    torch = SITE / "torch"
    own = [*torch.glob("lib/*.so*"), *torch.glob("_C*.so")]
    needed: set[str] = set()
    imported: set[str] = set()
    defined: set[str] = set()
    for library in own:
        needed |= {line.split("[")[1].split("]")[0] for line in lines("readelf", "-dW", library) if "(NEEDED)" in line}
        for line in lines("nm", "-D", library):
            *_, kind, name = line.split()
            (imported if kind in "Uwv" else defined).add(name.replace("@@", "@"))
    missing = sorted(needed - {library.name for library in own} - {name for name in needed if name.startswith(SYSTEM)})
    functions: dict[str, set[str]] = {}
    for name in imported - defined:
        if name.startswith(PREFIXES):
            function, _, version = name.partition("@")
            functions.setdefault(version, set()).add(function)
    folder = SITE / "nvidia" / "cu13" / "lib"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        source, versions = Path(temporary) / "stubs.c", Path(temporary) / "versions"
        every = sorted(set().union(*functions.values()))
        source.write_text("".join(f"int {name}(void) {{ return 100; }}\n" for name in every))
        named = sorted(version for version in functions if version)
        versions.write_text("".join(f"{name} {{ global: {'; '.join(sorted(functions[name]))}; }};\n" for name in named))
        for name in missing:
            flags = [f"-Wl,-soname,{name}", f"-Wl,--version-script={versions}"]
            subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / name, source, *flags], check=True)
    print(f"{len(missing)} libraries of {len(every)} functions in {folder}")


if __name__ == "__main__":
    main()

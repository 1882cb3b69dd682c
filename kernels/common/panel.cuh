// Constants of all kernels that process L a panel at a time.
#pragma once

constexpr int PANEL_COLS = 64;  // columns of a panel; its diagonal block is PANEL_COLS x PANEL_COLS
constexpr int THREADS = 256;    // of a block
constexpr int WARPS = THREADS / 32;
constexpr unsigned ALL_LANES = 0xffffffffu;  // of a warp

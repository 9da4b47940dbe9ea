#pragma once
// Warpgroups, and how many rows one has that multiplies.

constexpr int warpgroup_threads = 128;
constexpr int warpgroup_warps = 4;
constexpr int consumer_rows = 64;

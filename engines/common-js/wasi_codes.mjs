// WASI's error numbers, and Linux's in their place.

export const CODES = {
  success: 0, badf: 8, exist: 20, fault: 21, inval: 28, io: 29, isdir: 31, noent: 44, nosys: 52, notdir: 54,
  notsup: 58, perm: 63, spipe: 70, notcapable: 76,
};

// Linux → WASI. What openat2 refuses because it leads out of the folder is EXDEV.
const LINUX = new Map([
  [1, 63], [2, 44], [3, 71], [4, 27], [5, 29], [6, 60], [7, 1], [8, 45], [9, 8], [11, 6], [12, 48], [13, 2], [14, 21],
  [16, 10], [17, 20], [18, 76], [19, 43], [20, 54], [21, 31], [22, 28], [23, 41], [24, 33], [25, 59], [26, 74], [27, 22],
  [28, 51], [29, 70], [30, 69], [31, 34], [32, 64], [33, 18], [34, 68], [35, 16], [36, 37], [37, 46], [38, 52], [39, 55],
  [40, 32], [75, 61], [84, 25], [95, 58], [110, 73], [122, 19],
]);

/** WASI's errno for a system call's result: 0 where it was none of the errors. */
export function linuxCode(status) {
  return status >= 0 ? CODES.success : LINUX.get(-status) ?? CODES.io;
}

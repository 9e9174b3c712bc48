#!/usr/bin/env python3
"""Writes a folder in the layout of an installed SPEC CPU 2017, with programs of ours.

    python3 workloads/checks/made_up_spec.py FOLDER

They are tiny and share nothing with SPEC's but the names of files, folders and
arguments that the recipes use. 557.xz_r is not there, as in a copy without it.
"""

from __future__ import annotations

import pathlib
import sys

MCF = """#include <stdio.h>
#include "sorting.h"
int main(int count, char **words) {
    FILE *in = fopen(words[1], "r");
    int list[8], length = 0;
    if (count != 2 || in == NULL) return 1;
    while (length < 8 && fscanf(in, "%d", &list[length]) == 1) length++;
    sort(list, length);
    for (int i = 0; i < length; i++) printf("%d\\n", list[i]);
    FILE *out = fopen("mcf.out", "w");
    return out == NULL || fclose(out) != 0;
}
"""
SORTING_H = "void sort(int *list, int length);\n"
SORTING = """#include "sorting.h"
void sort(int *list, int length) {
    for (int i = 1; i < length; i++)
        for (int j = i; j > 0 && list[j] < list[j - 1]; j--) {
            int kept = list[j];
            list[j] = list[j - 1];
            list[j - 1] = kept;
        }
}
"""
LBM_MAIN = """#include <stdio.h>
#include <stdlib.h>
double lbm(int steps);
int main(int count, char **words) {
    if (count != 6 || fopen(words[5], "r") == NULL) return 1;
    printf("steps:\\t%s\\naverage: %.9e\\n", words[1], lbm(atoi(words[1])));
    return 0;
}
"""
LBM = """double lbm(int steps) {
    double sum = 0;
    for (int i = 1; i <= steps; i++) sum += 1.0 / i;
    return sum / steps;
}
"""
DEEPSJENG = """#include <cstdio>
#include <string>
#include <vector>
#ifndef SMALL_MEMORY
#error "built with the wrong recipe"
#endif
int main(int count, char **words) {
    std::FILE *in = std::fopen(words[1], "r");
    std::vector<std::string> moves;
    char move[8];
    while (in != nullptr && std::fscanf(in, "%7s", move) == 1) moves.push_back(move);
    std::printf("%d moves\\n", (int)moves.size());
    return count == 2 ? 0 : 1;
}
"""
NAB = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
int seeded(int seed);
int main(int count, char **words) {
    char path[64];
    snprintf(path, sizeof path, "%s/%s.pdb", words[1], words[1]);
    if (count != 4 || fopen(path, "r") == NULL) return 1;
    printf("%s energy %.4f\\n", words[1], sqrt(seeded(atoi(words[3]))));
    return 0;
}
"""
OBJECT_PM = """$benchname = 'nab_r';
$benchlang = 'C';
@sources = (qw(
    nabmd.c
    specrand/specrand.c
));
1;
"""

FILES = {
    "505.mcf_r": {
        "src/mcf.c": MCF, "src/spec_qsort/spec_qsort.c": SORTING, "src/spec_qsort/sorting.h": SORTING_H,
        "data/test/input/inp.in": "2 1\n", "data/test/output/inp.out": "1\n2\n",
        "data/train/input/inp.in": "3 1 2\n", "data/train/output/inp.out": "1\n2\n3\n",
    },
    "519.lbm_r": {
        "src/main.c": LBM_MAIN, "src/lbm.c": LBM, "data/all/input/shared.txt": "",
        "data/test/input/100_100_130_cf_a.of": "", "data/test/output/lbm.out": "steps: 20\naverage: 1.798869829e-01\n",
        # The last digits are off by less than the tolerance.
        "data/train/input/100_100_130_cf_b.of": "", "data/train/output/lbm.out": "steps: 300\naverage: 2.0942238e-02\n",
    },
    "531.deepsjeng_r": {
        "src/sjeng.cpp": DEEPSJENG,
        "data/test/input/test.txt": "e4 e5\n", "data/test/output/test.out": "2 moves\n",
        "data/train/input/train.txt": "e4 e5 f4\n", "data/train/output/train.out": "3 moves\n",
    },
    "544.nab_r": {
        "Spec/object.pm": OBJECT_PM, "src/nabmd.c": NAB, "src/unused.c": "#error \"not in the list\"\n",
        "src/specrand/specrand.c": "int seeded(int seed) { return seed; }\n",
        "data/test/input/hkrdenq/hkrdenq.pdb": "", "data/test/output/hkrdenq.out": "hkrdenq energy 31.6228\n",
        "data/train/input/aminos/aminos.pdb": "", "data/train/output/aminos.out": "aminos energy 31.70\n",
        "data/train/input/gcn4dna/gcn4dna.pdb": "", "data/train/output/gcn4dna.out": "gcn4dna energy 17.3205\n",
    },
}


def write(root: pathlib.Path) -> None:
    for benchmark, files in FILES.items():
        for name, content in files.items():
            path = root / "benchspec" / "CPU" / benchmark / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]))

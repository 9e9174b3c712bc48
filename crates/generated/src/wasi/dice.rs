//! What a sequence is made of: numbers and paths, from a seed.

/// A small generator (xorshift64*), so that a seed is a sequence for ever.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        // Zero would stay zero.
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            dice.next();
        }
        dice
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 8) % end
    }

    /// Once in `times`.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    pub fn fd(&mut self) -> u32 {
        let open = 3 + self.below(8) as u32;
        self.pick(&[3, 3, 3, open, open, open, open, open, 0, 1, 99, u32::MAX])
    }

    /// An offset or a size: mostly small, else at an edge.
    pub fn wide(&mut self) -> u64 {
        let small = self.below(5000);
        let edges = [0, 1, i64::MAX as u64, 1 << 63, u64::MAX, 1 << 40];
        match self.once_in(8) {
            true => self.pick(&edges),
            false => small,
        }
    }

    /// As [`Dice::wide`], but nothing that fills a disk.
    pub fn modest(&mut self) -> u64 {
        match self.wide() {
            0x100_0000_0000 => 3,
            wide => wide,
        }
    }

    /// Flags with this many bits, seldom unknown ones.
    pub fn flags(&mut self, bits: u32) -> u32 {
        let some = self.below(1 << bits) as u32;
        match self.below(40) {
            0 => some | (1 << bits),
            1 => u32::MAX,
            2..20 => 0,
            _ => some,
        }
    }

    /// Rights to ask for.
    pub fn rights(&mut self) -> u64 {
        let some = self.next();
        let all = (1 << 30) - 1;
        self.pick(&[
            all,
            all,
            all,
            all,
            all,
            2,
            66,
            0x3f_ffff,
            all & !0x40_0140,
            all & !0x40_0140,
            0,
            some,
            u64::MAX,
        ])
    }

    /// A path: what is there, what is not, what leads out, what no kernel takes.
    pub fn path(&mut self) -> Vec<u8> {
        const NAMES: [&[u8]; 16] = [
            b"a",
            b"b",
            b"c",
            b"d",
            b"d",
            b"e",
            b"a",
            b"b",
            b".",
            b"..",
            b"link",
            b"absolute",
            b"up",
            b"loop",
            b"dangling",
            b"\xff\xfe",
        ];
        let mut path = Vec::new();
        if self.once_in(30) {
            path.push(b'/');
        }
        for component in 0..1 + self.pick(&[0, 0, 0, 1, 1, 2, 3]) {
            if component > 0 {
                path.extend(self.pick(&[b"/" as &[u8], b"/", b"/", b"//"]));
            }
            path.extend(self.pick(&NAMES));
        }
        if self.once_in(12) {
            path.extend(self.pick(&[b"/" as &[u8], b"/", b"//", b"/."]));
        }
        match self.below(150) {
            0 => path.clear(),
            1 => path.extend([b'n'; 256]),
            2 => path.push(0),
            3 => path.extend(b"/.".repeat(2100)),
            4 => path = b"../outside/canary".to_vec(),
            5 => path = b"d/../../outside/canary".to_vec(),
            _ => {}
        }
        path
    }
}

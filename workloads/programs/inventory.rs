//! inventory FILE SEED: what a Rust program does: collections, traits, closures,
//! strings, errors, files. Writes a file, reads it back and prints what it found.

use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::rc::{Rc, Weak};

#[derive(Debug, Clone, PartialEq)]
enum Fault {
    Empty,
    BadNumber(String),
    TooMany { limit: usize, got: usize },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Empty => write!(f, "empty"),
            Fault::BadNumber(text) => write!(f, "`{text}` is no number"),
            Fault::TooMany { limit, got } => write!(f, "{got} is more than {limit}"),
        }
    }
}

impl std::error::Error for Fault {}

fn parse(line: &str) -> Result<Vec<i64>, Fault> {
    if line.is_empty() {
        return Err(Fault::Empty);
    }
    let numbers: Result<Vec<i64>, Fault> = line
        .split(',')
        .map(|part| part.trim().parse().map_err(|_| Fault::BadNumber(part.into())))
        .collect();
    match numbers? {
        many if many.len() > 4 => Err(Fault::TooMany { limit: 4, got: many.len() }),
        few => Ok(few),
    }
}

/// A linear congruential generator: the same numbers everywhere.
struct Numbers(u64);

impl Iterator for Numbers {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        Some(self.0 >> 33)
    }
}

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        format!("shape of {:.3}", self.area())
    }
}

struct Square(f64);
struct Circle(f64);

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        std::f64::consts::PI * self.0.powi(2)
    }
    fn name(&self) -> String {
        format!("circle {:>8.2}", self.0)
    }
}

struct Node {
    name: &'static str,
    parent: Weak<Node>,
}

impl Drop for Node {
    fn drop(&mut self) {
        println!("dropped {}", self.name);
    }
}

fn collections(seed: u64) {
    let numbers: Vec<u64> = Numbers(seed).take(50_000).collect();
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    for (at, n) in numbers.iter().enumerate() {
        *counts.entry(n % 1000).or_default() += 1;
        places.entry(n % 512).or_default().push(at);
    }
    let busiest = counts.iter().max_by_key(|(n, count)| (**count, **n));
    let distinct: HashSet<u64> = numbers.iter().copied().collect();
    let longest = places.values().map(Vec::len).max();
    println!("busiest {busiest:?}, distinct {}, longest {longest:?}", distinct.len());
    let mut heap: BinaryHeap<u64> = numbers.iter().copied().collect();
    let top: Vec<u64> = std::iter::from_fn(|| heap.pop()).take(3).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable_by_key(|n| n.reverse_bits());
    let mut queue: VecDeque<u64> = sorted.iter().take(1000).copied().collect();
    queue.rotate_left(300);
    println!("top {top:?}, front {:?}, sum {}", queue.front(), sorted.iter().fold(0u64, |s, n| s.wrapping_mul(31) ^ n));
    let wide = numbers.iter().fold(1u128, |product, n| product.wrapping_mul(u128::from(n | 1)));
    println!("wide {wide:x}, quotient {}", wide / 1_000_000_007);
}

fn text() {
    let words = "the lead line sounds ÄÖÜ 深い water";
    let capital: String = words.split(' ').map(|w| w.chars().rev().collect::<String>().to_uppercase()).collect::<Vec<_>>().join("-");
    println!("{capital} {} {} {:?}", words.len(), words.chars().count(), words.char_indices().nth(23));
    println!("{:?} {:e} {:#x} {:08.3} {} {}", 0.1 + 0.2, 123456.0, 255, -1.5, f32::MAX, 1e-7);
    println!("{:?} {:?} {:?}", "12".parse::<u8>(), "300".parse::<u8>().is_err(), "1e400".parse::<f64>());
    for line in ["1, 2,3", "", "1,x", "1,2,3,4,5"] {
        match parse(line) {
            Ok(numbers) => println!("parsed {numbers:?}"),
            Err(fault) => println!("fault: {fault}"),
        }
    }
    println!("{:?} {:?} {:?}", i32::MAX.checked_add(1), 200u8.saturating_add(100), (-7i32).rem_euclid(3));
}

fn file(path: &str) -> io::Result<()> {
    {
        let mut out = BufWriter::new(fs::File::create(path)?);
        for n in Numbers(1).take(2000) {
            writeln!(out, "{n}")?;
        }
    }
    let total: u64 = BufReader::new(fs::File::open(path)?).lines().map(|l| l.unwrap().parse::<u64>().unwrap()).sum();
    let mut file = fs::OpenOptions::new().read(true).append(true).open(path)?;
    file.write_all(b"end\n")?;
    file.seek(SeekFrom::End(-10))?;
    let mut tail = String::new();
    file.read_to_string(&mut tail)?;
    println!("total {total}, {} bytes, tail {:?}", file.metadata()?.len(), tail.lines().last());
    fs::create_dir("rust-folder")?;
    fs::rename(path, "rust-folder/renamed")?;
    let names: Vec<_> = fs::read_dir("rust-folder")?.map(|entry| entry.unwrap().file_name()).collect();
    println!("{names:?}, gone {:?}", fs::metadata(path).unwrap_err().kind());
    fs::remove_file("rust-folder/renamed")?;
    fs::remove_dir("rust-folder")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or(Fault::Empty)?;
    let seed: u64 = arguments.next().ok_or(Fault::Empty)?.parse()?;
    collections(seed);
    text();
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(1.5)), Box::new(Circle(2.0))];
    println!("{:?}", shapes.iter().map(|s| s.name()).collect::<Vec<_>>());
    let root = Rc::new(Node { name: "root", parent: Weak::new() });
    let leaf = Rc::new(Node { name: "leaf", parent: Rc::downgrade(&root) });
    println!("{:?} {}", leaf.parent.upgrade().map(|n| n.name), Rc::weak_count(&root));
    drop(root);
    println!("{:?}", leaf.parent.upgrade().map(|n| n.name));
    file(&path)?;
    let values = std::hint::black_box(vec![1, 2, 3]);
    std::process::exit(values.iter().sum::<i32>() + 1);
}

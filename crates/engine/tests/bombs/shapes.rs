//! Modules that are small and dear to compile, by what makes them dear.
//!
//! Each is made for a number of bytes, and is roughly of that length: what grows
//! faster than its length is seen in two of them.

use crate::encode::*;
use crate::objects::*;

/// A way to be dear.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    /// The module of about so many bytes.
    pub make: fn(usize) -> Vec<u8>,
}

macro_rules! shapes {
    ($($name:ident),* $(,)?) => {
        /// All there are.
        pub const ALL: &[Shape] = &[$(Shape { name: stringify!($name), make: $name }),*];
    };
}

shapes!(
    straight_line,
    loads,
    loops,
    loops_with_accesses,
    loops_with_steps,
    nested_loops,
    nested_loops_with_steps,
    nested_blocks,
    nested_ifs,
    small_tables_in_many_frames,
    table_of_many_labels,
    table_of_one_label,
    tables_in_a_row,
    largest_tables,
    largest_tables_with_operands,
    locals_in_many_blocks,
    locals_at_one_label,
    operands_over_many_blocks,
    expressions_far_apart,
    loop_of_many_parameters,
    loop_that_turns_its_parameters,
    wide_functions,
    unused_locals,
    wide_blocks,
    wide_loops,
    wide_ifs,
    wide_calls,
    wide_branches,
    wide_tables,
    wide_catches,
    tiny_functions,
    calls,
    inlined_calls,
    indirect_calls,
    many_exports,
    wide_types,
    element_segments,
    data_segments,
    long_constant,
    chain_of_globals,
    sets_of_globals,
    tries,
    nested_tries,
    catches,
    legacy_tries,
    nested_legacy_tries,
    legacy_clauses,
    wide_legacy_clauses,
    nested_legacy_clauses,
    delegates,
    function_names,
    memories,
    dependent_loads,
    selects,
    branches_back,
    steps_on_some_ways,
    filled_vectors,
    type_tests,
    nested_calls,
);

/// Repeats something up to a number of bytes.
pub fn fill(bytes: usize, part: &[u8]) -> Vec<u8> {
    part.repeat(bytes / part.len())
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn each(range: std::ops::Range<usize>, part: impl Fn(usize) -> Vec<u8>) -> Vec<u8> {
    range.flat_map(part).collect()
}

fn one(code: &[u8]) -> Vec<u8> {
    Module::of((1, 0), 1, code).encode()
}

fn straight_line(bytes: usize) -> Vec<u8> {
    let part = |i| join(&[&get(0), &number(i), &[MUL, ADD]]);
    one(&join(&[&get(0), &each(0..bytes / 7, part), &[DROP]]))
}

fn loads(bytes: usize) -> Vec<u8> {
    one(&join(&[&get(0), &fill(bytes, &LOAD), &[DROP]]))
}

/// `br_if` to a label, by the first parameter.
fn again(depth: usize) -> Vec<u8> {
    join(&[&get(0), &br_if(depth)])
}

fn loops(bytes: usize) -> Vec<u8> {
    one(&fill(bytes, &join(&[&[LOOP, NOTHING], &again(0), &[END]])))
}

fn loops_with_accesses(bytes: usize) -> Vec<u8> {
    let access = join(&[&get(0), &LOAD, &br_if(0)]);
    one(&fill(bytes, &join(&[&[LOOP, NOTHING], &access, &[END]])))
}

/// An access, and a step of its index.
fn step() -> Vec<u8> {
    join(&[
        &get(1),
        &LOAD,
        &[DROP],
        &get(1),
        &number(4),
        &[ADD],
        &set(1),
    ])
}

fn loops_with_steps(bytes: usize) -> Vec<u8> {
    one(&fill(
        bytes,
        &join(&[&[LOOP, NOTHING], &step(), &again(0), &[END]]),
    ))
}

fn nested(bytes: usize, open: &[u8], close: &[u8]) -> Vec<u8> {
    let depth = bytes / (open.len() + close.len());
    one(&join(&[&open.repeat(depth), &close.repeat(depth)]))
}

fn nested_loops(bytes: usize) -> Vec<u8> {
    nested(bytes, &[LOOP, NOTHING], &join(&[&again(0), &[END]]))
}

fn nested_loops_with_steps(bytes: usize) -> Vec<u8> {
    let open = join(&[&[LOOP, NOTHING], &step()]);
    nested(bytes, &open, &join(&[&again(0), &[END]]))
}

fn nested_blocks(bytes: usize) -> Vec<u8> {
    nested(bytes, &[BLOCK, NOTHING], &join(&[&again(0), &[END]]))
}

fn nested_ifs(bytes: usize) -> Vec<u8> {
    nested(bytes, &join(&[&get(0), &[IF, NOTHING]]), &[END])
}

fn small_tables_in_many_frames(bytes: usize) -> Vec<u8> {
    let table = join(&[&get(0), &br_table([1].into_iter(), 0)]);
    let open = [BLOCK, NOTHING];
    let used = join(&[&open, &table, &[END]]);
    let depth = bytes / (used.len() + 3);
    one(&join(&[
        &open.repeat(depth),
        &used.repeat(depth),
        &[END].repeat(depth),
    ]))
}

fn table_of_many_labels(bytes: usize) -> Vec<u8> {
    let depth = (bytes / 6).min(60_000);
    let table = join(&[&get(0), &br_table(0..depth, 0)]);
    one(&join(&[
        &[BLOCK, NOTHING].repeat(depth),
        &table,
        &[END].repeat(depth),
    ]))
}

/// Locals that have several values at a label.
const LOCALS: usize = 1000;

/// Each local set, and each used.
fn set_locals(count: usize) -> Vec<u8> {
    each(1..count, |i| join(&[&number(i), &set(i)]))
}

fn use_locals(count: usize) -> Vec<u8> {
    each(1..count, |i| join(&[&get(i), &[DROP]]))
}

fn table_of_one_label(bytes: usize) -> Vec<u8> {
    let locals = LOCALS.min(bytes / 40);
    let sets = set_locals(locals);
    let entries = bytes.saturating_sub(2 * sets.len() + 4 * locals);
    let table = br_table((0..entries).map(|_| 0), 0);
    let sometimes = join(&[&get(0), &[IF, NOTHING], &sets, &[END]]);
    let block = join(&[&[BLOCK, NOTHING], &sometimes, &get(0), &table, &[END]]);
    Module::of((1, 0), locals, &join(&[&block, &use_locals(locals)])).encode()
}

/// Tables of a hundred entries, each in a block that the one before leads to.
fn tables_in_a_row(bytes: usize) -> Vec<u8> {
    let table = br_table((0..100).map(|_| 0), 0);
    let part = join(&[&[BLOCK, NOTHING], &get(0), &table, &[END]]);
    one(&fill(bytes, &part))
}

/// As many entries as a table may have.
const ENTRIES_MAX: usize = 65_520;

/// Tables of as many entries as there may be, each to one of two labels.
fn largest_tables(bytes: usize) -> Vec<u8> {
    let entries = ENTRIES_MAX.min(bytes);
    let table = br_table((0..entries).map(|i| i % 2), 0);
    let part = join(&[
        &[BLOCK, NOTHING, BLOCK, NOTHING],
        &get(0),
        &table,
        &[END],
        &sometimes(),
        &[END],
    ]);
    one(&fill(bytes.max(part.len()), &part))
}

/// The same where each entry hands on an operand.
fn largest_tables_with_operands(bytes: usize) -> Vec<u8> {
    let entries = ENTRIES_MAX.min(bytes);
    let table = br_table((0..entries).map(|i| i % 2), 0);
    let part = join(&[
        &[BLOCK, I32, BLOCK, I32],
        &get(0),
        &get(0),
        &table,
        &[END],
        &get(0),
        &[ADD, END],
        &[DROP],
    ]);
    one(&fill(bytes.max(part.len()), &part))
}

fn locals_in_many_blocks(bytes: usize) -> Vec<u8> {
    let locals = (bytes / 40).min(40_000);
    let sometimes = join(&[&get(0), &[IF, NOTHING], &number(1), &set(1), &[END]]);
    let step = each(1..locals, |i| join(&[&get(i), &number(1), &[ADD], &set(i)]));
    let many = fill(bytes / 2, &sometimes);
    let code = join(&[&[LOOP, NOTHING], &many, &step, &again(0), &[END]]);
    Module::of((1, 0), locals, &code).encode()
}

fn locals_at_one_label(bytes: usize) -> Vec<u8> {
    let locals = (bytes / 40).clamp(2, 20_000);
    let leave = |i: usize| join(&[&again(0), &number(7), &set(1 + i % locals)]);
    let leaves = each(0..bytes / 10, leave);
    let block = join(&[&[BLOCK, NOTHING], &leaves, &[END]]);
    Module::of((1, 0), locals + 1, &join(&[&block, &use_locals(locals)])).encode()
}

/// An `if` with an effect.
fn sometimes() -> Vec<u8> {
    join(&[&get(0), &[IF, NOTHING], &get(0), &get(0), &STORE, &[END]])
}

fn operands_over_many_blocks(bytes: usize) -> Vec<u8> {
    let count = bytes / 20;
    let operands = each(0..count, |i| join(&[&get(0), &[0x28, 2], &unsigned(i)]));
    let blocks = fill(bytes / 2, &sometimes());
    let sums = [ADD].repeat(count - 1);
    one(&join(&[&operands, &blocks, &sums, &[DROP]]))
}

fn expressions_far_apart(bytes: usize) -> Vec<u8> {
    let count = bytes / 40;
    let expression = |i: usize| join(&[&get(0), &number(i * 1000 + 12_345), &[MUL]]);
    let first = each(0..count, |i| join(&[&get(0), &expression(i), &STORE]));
    let last = each(0..count, |i| join(&[&get(0), &expression(i), &STORE]));
    one(&join(&[&first, &fill(bytes / 2, &sometimes()), &last]))
}

fn loop_of_many_parameters(bytes: usize) -> Vec<u8> {
    let params = (bytes / 14).clamp(2, 1000);
    let first = each(0..params, |i| join(&[&get(0), &number(i), &[MUL]]));
    let sums = [ADD].repeat(params - 1);
    let next = get(0).repeat(params);
    let looping = join(&[&open(LOOP, 1), &sums, &set(0), &next, &[0x0c, 0, END]]);
    let code = join(&[&first, &looping]);
    Module::new(&[(1, 0), (params, 0)], vec![(0, body(0, &code))]).encode()
}

/// Each branch back hands on each parameter in the place of the one in front.
fn loop_that_turns_its_parameters(bytes: usize) -> Vec<u8> {
    let params = (bytes / 14).clamp(2, 1000);
    let branches = (bytes.saturating_sub(8 * params) / 10).max(1);
    let first = each(0..params, |i| join(&[&get(0), &number(i), &[MUL]]));
    let turn = |i| join(&[&get(0), &number(i), &[XOR], &again(0)]);
    let sums = [ADD].repeat(params + branches - 1);
    let turns = each(0..branches, turn);
    let code = join(&[&first, &open(LOOP, 1), &turns, &sums, &set(0), &[END]]);
    Module::new(&[(1, 0), (params, 0)], vec![(0, body(0, &code))]).encode()
}

/// Parameters and results of the widest types.
pub const WIDEST: usize = 1000;

/// A thousand operands, some code and no operands any more; the second function
/// and type take and give a thousand, the third type gives them.
fn wide(code: &[u8]) -> Vec<u8> {
    let types = [(0, 0), (WIDEST, WIDEST), (0, WIDEST)];
    let code = join(&[&number(1).repeat(WIDEST), code, &[DROP].repeat(WIDEST)]);
    // What calls is not inlined.
    let callee = join(&[&[UNREACHABLE], &call(0)]);
    let funcs = vec![(0, body(0, &code)), (1, body(0, &callee))];
    Module::new(&types, funcs).encode()
}

/// Each takes a thousand values, in four bytes.
fn wide_functions(bytes: usize) -> Vec<u8> {
    Module::new(&[(WIDEST, 0)], vec![(0, body(0, &[])); bytes / 4]).encode()
}

/// Each has 50,000 locals, in eight bytes.
fn unused_locals(bytes: usize) -> Vec<u8> {
    Module::new(&[(0, 0)], vec![(0, body(50_000, &[])); bytes / 9]).encode()
}

fn wide_blocks(bytes: usize) -> Vec<u8> {
    wide(&fill(bytes, &join(&[&open(BLOCK, 1), &[END]])))
}

fn wide_loops(bytes: usize) -> Vec<u8> {
    wide(&fill(bytes, &join(&[&open(LOOP, 1), &[END]])))
}

fn wide_ifs(bytes: usize) -> Vec<u8> {
    wide(&fill(bytes, &join(&[&number(1), &open(IF, 1), &[END]])))
}

fn wide_calls(bytes: usize) -> Vec<u8> {
    wide(&fill(bytes, &call(1)))
}

fn wide_branches(bytes: usize) -> Vec<u8> {
    let branch = join(&[&number(1), &br_if(0)]);
    wide(&join(&[&open(BLOCK, 1), &fill(bytes, &branch), &[END]]))
}

fn wide_tables(bytes: usize) -> Vec<u8> {
    const LABELS: usize = 100;
    let table = join(&[&number(1), &br_table(0..LABELS, 1)]);
    let used = join(&[&open(BLOCK, 1), &table, &[END]]);
    let opened = open(BLOCK, 1).repeat(LABELS);
    wide(&join(&[
        &opened,
        &fill(bytes, &used),
        &[END].repeat(LABELS),
    ]))
}

fn wide_catches(bytes: usize) -> Vec<u8> {
    let clauses = list(&vec![[0, 0, 0]; (bytes / 4).min(9000)]);
    let guarded = join(&[&[0x1f, NOTHING], &clauses, &call(1), &[END]]);
    let caught = join(&[
        &open(BLOCK, 2),
        &guarded,
        &[UNREACHABLE, END],
        &[DROP].repeat(WIDEST),
    ]);
    let types = [(0, 0), (WIDEST, 0), (0, WIDEST)];
    let funcs = vec![(0, body(0, &fill(bytes, &caught))), (0, body(0, &call(0)))];
    Module::new(&types, funcs)
        .with(13, list(&[[0, 1]]))
        .encode()
}

fn tiny_functions(bytes: usize) -> Vec<u8> {
    Module::new(&[(0, 0)], vec![(0, body(0, &[])); bytes / 4]).encode()
}

fn calls(bytes: usize) -> Vec<u8> {
    let funcs = vec![(0, body(0, &fill(bytes, &call(1)))), (0, body(0, &call(0)))];
    Module::new(&[(0, 0)], funcs).encode()
}

fn inlined_calls(bytes: usize) -> Vec<u8> {
    let leaf = body(0, &join(&[&get(0), &get(0), &STORE]).repeat(17));
    let caller = body(0, &join(&[&get(0), &call(0)]).repeat(5));
    let callers = vec![(0, caller); bytes / 24];
    Module::new(&[(1, 0)], [vec![(0, leaf)], callers].concat()).encode()
}

fn indirect_calls(bytes: usize) -> Vec<u8> {
    let part = join(&[&number(0), &[0x11, 0, 0]]);
    Module::of((0, 0), 0, &fill(bytes, &part))
        .with(4, list(&[[FUNCREF, 0, 10]]))
        .encode()
}

fn many_exports(bytes: usize) -> Vec<u8> {
    let mut module = Module::of((0, 0), 0, &[]);
    let export = |i| join(&[&name(&format!("f{i}")), &[0, 0]]);
    module.exports = (0..bytes / 9).map(export).collect();
    module.encode()
}

fn wide_types(bytes: usize) -> Vec<u8> {
    // A module of one type only is one type: they differ in length.
    let count = (bytes / (WIDEST / 2)).min(WIDEST);
    let types: Vec<(usize, usize)> = (0..count).map(|i| (WIDEST - i, 0)).collect();
    let funcs = (0..count).map(|i| (i, body(0, &[]))).collect();
    let mut module = Module::new(&types, funcs);
    let export = |i| join(&[&name(&format!("f{i}")), &[0], &unsigned(i)]);
    module.exports = (0..count).map(export).collect();
    module.encode()
}

/// Most segments of a kind.
const SEGMENTS: usize = 90_000;

fn element_segments(bytes: usize) -> Vec<u8> {
    let segment = join(&[&[0], &number(1), &[END, 1, 0]]);
    let segments = vec![segment; (bytes / 6).min(SEGMENTS)];
    Module::of((0, 0), 0, &[])
        .with(4, list(&[[FUNCREF, 0, 10]]))
        .with(9, list(&segments))
        .encode()
}

fn data_segments(bytes: usize) -> Vec<u8> {
    let segment = join(&[&[0], &number(1), &[END, 1, 7]]);
    let segments = vec![segment; (bytes / 6).min(SEGMENTS)];
    Module::of((0, 0), 0, &[])
        .with(11, list(&segments))
        .encode()
}

fn long_constant(bytes: usize) -> Vec<u8> {
    let more = join(&[&number(1), &[ADD]]);
    let global = join(&[&[I32, 0], &number(1), &fill(bytes, &more), &[END]]);
    Module::of((0, 0), 0, &[]).with(6, list(&[global])).encode()
}

fn chain_of_globals(bytes: usize) -> Vec<u8> {
    let count = bytes / 12;
    let first = join(&[&[I32, 0], &number(5), &[END]]);
    let next = |i| join(&[&[I32, 0], &global(i), &[END]]);
    let globals: Vec<Vec<u8>> = std::iter::once(first).chain((0..count).map(next)).collect();
    let uses = join(&[&global(count), &[DROP]]).repeat(count);
    Module::of((0, 0), 0, &uses)
        .with(6, list(&globals))
        .encode()
}

fn sets_of_globals(bytes: usize) -> Vec<u8> {
    const COUNT: usize = 64;
    let global = join(&[&[I32, 1], &number(5), &[END]]);
    let set = |i| {
        join(&[
            &get(0),
            &[IF, NOTHING],
            &number(i),
            &set_global(i % COUNT),
            &[END],
        ])
    };
    Module::of((1, 0), 0, &each(0..bytes / 10, set))
        .with(6, list(&vec![global; COUNT]))
        .encode()
}

/// A function that calls the other in this code, which has one tag.
fn trying(code: &[u8]) -> Vec<u8> {
    let funcs = vec![(0, body(0, code)), (0, body(0, &call(0)))];
    Module::new(&[(0, 0)], funcs)
        .with(13, list(&[[0, 0]]))
        .encode()
}

/// `try_table` with a clause for all, and a call.
fn attempt() -> Vec<u8> {
    join(&[&[0x1f, NOTHING, 1, 2, 0], &call(1)])
}

fn tries(bytes: usize) -> Vec<u8> {
    trying(&fill(bytes, &join(&[&attempt(), &[END]])))
}

fn nested_tries(bytes: usize) -> Vec<u8> {
    let depth = bytes / 8;
    trying(&join(&[&attempt().repeat(depth), &[END].repeat(depth)]))
}

fn catches(bytes: usize) -> Vec<u8> {
    let clauses = list(&vec![[0, 0, 0]; (bytes / 4).min(9000)]);
    let part = join(&[&[0x1f, NOTHING], &clauses, &call(1), &[END]]);
    trying(&fill(bytes, &part))
}

/// `try` of the older form, and a call.
fn legacy_attempt() -> Vec<u8> {
    join(&[&[0x06, NOTHING], &call(1)])
}

const CATCH: [u8; 2] = [0x07, 0];
const CATCH_ALL: u8 = 0x19;

fn legacy_tries(bytes: usize) -> Vec<u8> {
    let part = join(&[&legacy_attempt(), &[CATCH_ALL, END]]);
    trying(&fill(bytes, &part))
}

fn nested_legacy_tries(bytes: usize) -> Vec<u8> {
    let (opened, closed) = (legacy_attempt(), [CATCH_ALL, END]);
    let depth = bytes / (opened.len() + closed.len());
    trying(&join(&[&opened.repeat(depth), &closed.repeat(depth)]))
}

fn legacy_clauses(bytes: usize) -> Vec<u8> {
    let clauses = CATCH.repeat(bytes / CATCH.len());
    trying(&join(&[&legacy_attempt(), &clauses, &[END]]))
}

/// Each clause has a thousand operands, and branches to the end without them.
fn wide_legacy_clauses(bytes: usize) -> Vec<u8> {
    let clause = join(&[&CATCH, &[0x0c, 0]]);
    let clauses = clause.repeat(bytes / clause.len());
    let code = join(&[&legacy_attempt(), &clauses, &[END]]);
    let types = [(0, 0), (WIDEST, 0)];
    let funcs = vec![(0, body(0, &code)), (0, body(0, &call(0)))];
    Module::new(&types, funcs)
        .with(13, list(&[[0, 1]]))
        .encode()
}

fn nested_legacy_clauses(bytes: usize) -> Vec<u8> {
    let opened = join(&[&legacy_attempt(), &CATCH]);
    let depth = bytes / (opened.len() + 1);
    trying(&join(&[&opened.repeat(depth), &[END].repeat(depth)]))
}

/// Each to the one around it.
fn delegates(bytes: usize) -> Vec<u8> {
    let (opened, closed) = (legacy_attempt(), [0x18, 0]);
    let depth = bytes / (opened.len() + closed.len());
    trying(&join(&[&opened.repeat(depth), &closed.repeat(depth)]))
}

fn function_names(bytes: usize) -> Vec<u8> {
    let naming = |i| join(&[&unsigned(i), &name("abc")]);
    let names = list(&(0..bytes / 7).map(naming).collect::<Vec<_>>());
    let section = join(&[&name("name"), &[1], &unsigned(names.len()), &names]);
    Module::of((0, 0), 0, &[]).with(0, section).encode()
}

fn memories(bytes: usize) -> Vec<u8> {
    const COUNT: usize = 100;
    let part = |i| join(&[&get(0), &[0x28, 0x42], &unsigned(i % COUNT), &[0, DROP]]);
    let mut module = Module::of((1, 0), 0, &each(0..bytes / 7, part));
    module.memories = COUNT;
    module.encode()
}

fn dependent_loads(bytes: usize) -> Vec<u8> {
    let part = join(&[&get(0), &[ADD], &LOAD, &get(0), &[ADD]]);
    one(&join(&[&get(0), &fill(bytes, &part), &[DROP]]))
}

fn selects(bytes: usize) -> Vec<u8> {
    let part = |i| join(&[&number(i), &get(0), &[0x1b]]);
    one(&join(&[&get(0), &each(0..bytes / 6, part), &[DROP]]))
}

fn branches_back(bytes: usize) -> Vec<u8> {
    let part = join(&[&step(), &again(0)]);
    one(&join(&[&[LOOP, NOTHING], &fill(bytes, &part), &[END]]))
}

fn steps_on_some_ways(bytes: usize) -> Vec<u8> {
    let change = join(&[&get(1), &number(4), &[ADD], &set(1)]);
    let sometimes = join(&[&get(0), &[IF, NOTHING], &change, &[END]]);
    let access = join(&[&get(1), &LOAD, &[DROP]]);
    one(&fill(bytes, &join(&[&sometimes, &access])))
}

//! The ways in which a compiler can come to know a number.

use super::Shape;

/// How something comes to be known: an expression of this value, in a guard, if it is known
/// behind one only.
pub struct Known {
    pub value: f64,
    pub text: String,
    pub guard: Option<String>,
}

impl Known {
    /// What needs no guard.
    fn always(value: f64, text: String) -> Known {
        Known {
            value,
            text,
            guard: None,
        }
    }
}

/// The ways in which ±1 and ±0 can be known of a scalar.
pub fn known_scalars(shape: Shape) -> Vec<Known> {
    let mut all = constants(shape);
    all.extend(of_two(shape));
    all.extend(of_integers(shape));
    all
}

/// The vectors of a shape's scalars.
fn vectors(shape: Shape) -> &'static str {
    if shape.is_wide() { "f64x2" } else { "f32x4" }
}

/// What is a constant, sooner or later.
fn constants(shape: Shape) -> Vec<Known> {
    let ((f, i), v) = (shape.lane, vectors(shape));
    let (integers, lanes) = (v.replace('f', "i"), if shape.is_wide() { 2 } else { 4 });
    let mut all = Vec::new();
    for value in [1.0_f64, -1.0, 0.0, -0.0] {
        let bits = match shape.is_wide() {
            true => value.to_bits().cast_signed().to_string(),
            false => (value as f32).to_bits().cast_signed().to_string(),
        };
        let (c, last) = (format!("({f}.const {value:?})"), lanes - 1);
        let same = format!(" {value:?}").repeat(lanes);
        let unknown = "(local.get $y)";
        let mut texts = vec![
            c.clone(),
            format!("({f}.reinterpret_{i} ({i}.const {bits}))"),
            format!("({f}.floor {c})"),
            format!("({v}.extract_lane {last} (v128.const {v}{same}))"),
            format!("({v}.extract_lane 0 ({integers}.splat ({i}.const {bits})))"),
        ];
        if !shape.is_vector() {
            let mixed = format!("({v}.replace_lane 1 ({v}.splat {unknown}) {c})");
            texts.push(format!("({v}.extract_lane 1 {mixed})"));
        }
        all.extend(texts.into_iter().map(|text| Known::always(value, text)));
    }
    all
}

/// From a number that is 2: half, minus half, nothing, and minus a third of nothing.
fn parts_of(f: &str, two: &str) -> [(f64, String); 4] {
    let nothing = format!("({f}.sub {two} ({f}.const 2))");
    [
        (1.0, format!("({f}.mul {two} ({f}.const 0.5))")),
        (-1.0, format!("({f}.mul {two} ({f}.const -0.5))")),
        (0.0, nothing.clone()),
        (-0.0, format!("({f}.div {nothing} ({f}.const -3))")),
    ]
}

/// What is known of a number that is 2, or by which another one is.
fn of_two(shape: Shape) -> Vec<Known> {
    let ((f, i), v) = (shape.lane, vectors(shape));
    let k = match shape.is_vector() {
        true => format!("({v}.extract_lane 0 (local.get $k))"),
        false => "(local.get $k)".to_owned(),
    };
    let y = k.replace("$k", "$y");
    let two = format!("({f}.const 2)");
    let is_more = format!("(i32.eqz ({f}.le {k} {two}))");
    let (floor, nearest) = (format!("({f}.floor {k})"), format!("({f}.nearest {k})"));
    let root = format!("({f}.sqrt {k})");
    let square = format!("({f}.nearest ({f}.mul {root} ({f}.const 1.4142135)))");
    let bits = shape.bits(2.0);
    let behind = [
        (&k, format!("({f}.eq {k} {two})")),
        (&k, format!("(i32.eqz ({f}.ne {k} {two}))")),
        (
            &k,
            format!("(i32.and ({f}.le {k} {two}) ({f}.ge {k} {two}))"),
        ),
        (
            &k,
            format!("(i32.eqz (i32.or ({f}.lt {k} {two}) {is_more}))"),
        ),
        (&k, format!("({f}.eq ({f}.neg {k}) ({f}.const -2))")),
        (
            &k,
            format!("({i}.eq ({i}.reinterpret_{f} {k}) ({i}.const {bits}))"),
        ),
        (&floor, format!("({f}.eq {floor} {two})")),
        (&nearest, format!("({f}.eq {nearest} {two})")),
        (&square, format!("({f}.eq {root} ({f}.const 1.4142135))")),
    ];
    let mut all = Vec::new();
    for (number, guard) in behind {
        let parts = parts_of(f, number).into_iter();
        all.extend(parts.map(|(value, text)| Known {
            value,
            text,
            guard: Some(guard.clone()),
        }));
    }
    // What a sign is copied to and taken from again, and a number between others.
    for number in [
        format!("({f}.abs ({f}.copysign {two} {y}))"),
        format!("({f}.sub ({f}.abs ({f}.copysign ({f}.const 3) {y})) ({f}.const 1))"),
        format!("({f}.min ({f}.max {k} ({f}.const 4)) {two})"),
    ] {
        let parts = parts_of(f, &number).into_iter();
        all.extend(parts.map(|(value, text)| Known::always(value, text)));
    }
    all
}

/// What is known of integers.
fn of_integers(shape: Shape) -> Vec<Known> {
    let ((f, i), v) = (shape.lane, vectors(shape));
    let is_one = "(i32.eq (local.get $i) (i32.const 1))".to_owned();
    let has_bits = format!("({i}.eq (local.get $b) ({i}.const {}))", shape.bits(1.0));
    let converted = format!("({f}.convert_i32_s (local.get $i))");
    let nothing = format!("({f}.sub {converted} {converted})");
    let read = format!("({f}.reinterpret_{i} (local.get $b))");
    let splat = format!("({}.splat (local.get $b))", v.replace('f', "i"));
    let lane = format!("({v}.extract_lane 0 {splat})");
    let all = [
        (1.0, converted, is_one.clone()),
        (0.0, nothing, is_one),
        (1.0, read, has_bits.clone()),
        (1.0, lane, has_bits),
    ];
    let all = all.into_iter().map(|(value, text, guard)| Known {
        value,
        text,
        guard: Some(guard),
    });
    all.collect()
}

/// The same of vectors: those of a scalar in each lane, and what is known of lanes.
pub fn known_vectors(shape: Shape) -> Vec<Known> {
    let (v, i) = (shape.name, shape.integer);
    let mut all = known_scalars(shape);
    for known in &mut all {
        known.text = format!("({v}.splat {})", known.text);
    }
    let c = |value: &str| shape.constant(value);
    let k = "(local.get $k)";
    let two = format!(
        "(v128.const {i}{})",
        format!(" {}", shape.bits(2.0)).repeat(shape.lanes)
    );
    let guards = [
        format!("({i}.all_true ({v}.eq {k} {}))", c("2")),
        format!("(i32.eqz (v128.any_true ({v}.ne {k} {})))", c("2")),
        format!("({i}.all_true ({i}.eq {k} {two}))"),
        format!("(i32.eqz (v128.any_true (v128.xor {k} {two})))"),
        format!("({i}.extract_lane 0 ({v}.eq {k} {}))", c("2"))
            .replace("i64x2.extract_lane", "i32x4.extract_lane"),
    ];
    for guard in &guards {
        for (value, op, other) in [
            (1.0, "mul", "0.5"),
            (-1.0, "mul", "-0.5"),
            (0.0, "sub", "2"),
        ] {
            let text = format!("({v}.{op} {k} {})", c(other));
            let guard = Some(guard.clone());
            all.push(Known { value, text, guard });
        }
    }
    let one = format!("({i}.splat (local.get $b))");
    let is_one = format!(
        "({}.eq (local.get $b) ({}.const {}))",
        shape.lane.1,
        shape.lane.1,
        shape.bits(1.0)
    );
    all.push(Known {
        value: 1.0,
        text: one,
        guard: Some(is_one),
    });
    all
}

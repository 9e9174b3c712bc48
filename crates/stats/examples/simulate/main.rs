//! Is what the estimator says true? Campaigns with a known answer, by the
//! hundred, under each kind of noise.
//!
//! ```sh
//! cargo run --release -p fathom-stats --example simulate -- --trials 400
//! ```
//!
//! Prints Markdown tables; docs/measured/validation.md has them. The same seed gives
//! the same tables.

mod noise;
mod trial;
mod world;

use fathom_record::Estimator;
use noise::Noise;
use trial::{Gate, Told};
use world::{Controls, World};

/// What the command line says.
struct Options {
    trials: u32,
    cells: usize,
    workloads: usize,
    rounds: Vec<usize>,
    seed: u64,
    noises: Vec<Noise>,
    estimator: Estimator,
    controls: Controls,
    width: Option<f64>,
    detect: Option<f64>,
    held: u32,
    far: Vec<f64>,
    what: String,
}

const USAGE: &str = "\
simulate [table|coverage|aa|power|compare|far|detect|all] [--trials N] [--cells N] [--workloads N]
         [--rounds N,N…] [--seed N] [--noise NAME,NAME…] [--controls first|every]
         [--estimator mean|faster-half] [--width PERCENT] [--detect PERCENT] [--held N]
         [--far TIMES,TIMES…]";

fn main() {
    match options() {
        Ok(options) => run(&options),
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            std::process::exit(2);
        }
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        trials: 200,
        cells: 200,
        workloads: 20,
        rounds: vec![5, 9, 15],
        seed: 2026,
        noises: Noise::ALL.to_vec(),
        estimator: Estimator::FasterHalf,
        controls: Controls::Every,
        width: None,
        detect: None,
        held: 3,
        far: vec![1.5, 4.0, 16.0],
        what: "all".to_owned(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            options.what = word;
            continue;
        }
        let value = words.next().ok_or(format!("{word} wants a value"))?;
        let number = || value.parse::<usize>().map_err(|error| error.to_string());
        match word.as_str() {
            "--trials" => options.trials = number()? as u32,
            "--cells" => options.cells = number()?.max(1),
            "--workloads" => options.workloads = number()?.max(1),
            "--held" => options.held = number()? as u32,
            "--seed" => options.seed = number()? as u64,
            "--rounds" => {
                let all = value.split(',').map(str::parse);
                options.rounds = all.collect::<Result<_, _>>().map_err(|_| value.clone())?;
            }
            "--noise" => options.noises = value.split(',').map(noise).collect::<Result<_, _>>()?,
            "--width" => {
                let percent: f64 = value.parse().map_err(|_| value.clone())?;
                options.width = Some(percent / 100.0);
            }
            "--detect" => {
                let percent = value.parse::<f64>().map_err(|error| error.to_string())?;
                options.detect = Some(percent / 100.0);
            }
            "--far" => {
                let all = value.split(',').map(str::parse);
                options.far = all.collect::<Result<_, _>>().map_err(|_| value.clone())?;
            }
            "--estimator" => {
                options.estimator = value.parse().map_err(|_| value.clone())?;
            }
            "--controls" if value == "first" => options.controls = Controls::First,
            "--controls" if value == "every" => options.controls = Controls::Every,
            _ => return Err(format!("unknown: {word} {value}")),
        }
    }
    Ok(options)
}

fn noise(name: &str) -> Result<Noise, String> {
    let mut all = Noise::ALL.into_iter();
    all.find(|noise| noise.name() == name)
        .ok_or(format!("no noise {name}"))
}

fn run(options: &Options) {
    let wants = |what: &str| options.what == what || options.what == "all";
    if wants("table") {
        table(options);
    }
    if wants("aa") || wants("coverage") {
        identical(options);
    }
    if wants("power") {
        planted(options);
    }
    if wants("compare") {
        gate(options);
    }
    if wants("far") {
        far(options);
    }
    if options.what == "detect" {
        detect(options);
    }
}

fn world(options: &Options, noise: Noise, rounds: usize, planted: f64) -> World {
    World {
        noise,
        cells: options.cells,
        workloads: options.workloads,
        rounds,
        estimator: options.estimator,
        controls: options.controls,
        planted,
        row_slower: 0.0,
        width: options.width,
        detect: options.detect,
        held: options.held,
    }
}

/// Both estimators side by side: campaigns of identical cells that say "different" anywhere,
/// how often a row that is 1.5 % slower is found, and how well a mean is known.
fn table(options: &Options) {
    const SLOWER: f64 = 0.015;
    println!(
        "| noise | rounds | mean: false | + 1.5 % found | half-width | covered \
         | faster half: false | + 1.5 % found | half-width | covered |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            let by = |estimator: Estimator| {
                let same = World {
                    estimator,
                    ..world(options, noise, rounds, 0.0)
                };
                let slower = World {
                    row_slower: SLOWER,
                    ..same
                };
                let told = |world| Told::of(world, options.trials, options.seed);
                let (same, slower) = (told(&same), told(&slower));
                format!(
                    "{} | {} | {:.2} % | {}",
                    share(same.campaigns_different, options.trials),
                    share(slower.found_mean, options.trials),
                    100.0 * same.half_widths / f64::from(same.means),
                    share(same.means_covered, same.means),
                )
            };
            let [mean, half] = [Estimator::Mean, Estimator::FasterHalf].map(by);
            println!("| {} | {rounds} | {mean} | {half} |", noise.help());
        }
    }
}

/// Identical cells: what intervals cover, and what is called a difference.
fn identical(options: &Options) {
    println!(
        "| noise | rounds | cell covered | mean covered | cells called different \
         | means called different | campaigns with any | equivalent cells |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            let told = Told::of(
                &world(options, noise, rounds, 0.0),
                options.trials,
                options.seed,
            );
            let a_campaign = |count: u32| f64::from(count) / f64::from(options.trials);
            println!(
                "| {} | {rounds} | {} | {} | {:.2} | {:.2} | {} | {} |",
                noise.help(),
                share(told.covered, told.cells),
                share(told.means_covered, told.means),
                a_campaign(told.different),
                a_campaign(told.means_different),
                share(told.campaigns_different, options.trials),
                share(told.equivalent, told.cells),
            );
        }
    }
}

/// One cell that is really slower: how often it is found.
fn planted(options: &Options) {
    println!(
        "\n| noise | rounds | + 3 % found | + 5 % found | a mean could see | a cell could see |"
    );
    println!("|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            let found = |planted: f64| {
                Told::of(
                    &world(options, noise, rounds, planted),
                    options.trials,
                    options.seed,
                )
            };
            let (three, five) = (found(0.03), found(0.05));
            println!(
                "| {} | {rounds} | {} | {} | {:.1} % | {:.1} % |",
                noise.help(),
                share(three.found, options.trials),
                share(five.found, options.trials),
                100.0 * three.seen_mean,
                100.0 * three.seen_cell,
            );
        }
    }
}

/// A row far from the others, which rests once it is known well enough: whether its interval
/// contains the truth all the same, and how many rounds it took.
fn far(options: &Options) {
    /// What campaigns are measured to by default.
    const WIDTH: f64 = 0.005;
    println!(
        "\n| noise | rounds | takes | far mean covered | rounds it took | other means covered |"
    );
    println!("|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            for &times in &options.far {
                let world = World {
                    row_slower: times - 1.0,
                    width: Some(options.width.unwrap_or(WIDTH)),
                    ..world(options, noise, rounds, 0.0)
                };
                let told = Told::of(&world, options.trials, options.seed);
                println!(
                    "| {} | {rounds} | {times} × | {} | {:.1} | {} |",
                    noise.help(),
                    share(told.far_covered, told.far),
                    f64::from(told.far_rounds) / f64::from(options.trials),
                    share(told.means_covered - told.far_covered, told.means - told.far),
                );
            }
        }
    }
}

/// Campaigns that go on until a difference of so much would be found: how many rounds they
/// have and were forecast by three, how many of identical rows call anything different, and
/// how often a row that takes so much longer is found.
fn detect(options: &Options) {
    let wanted = options.detect.unwrap_or(0.02);
    println!("| noise | at most | rounds | forecast | reached | false | mean covered | found |");
    println!("|---|---|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            let same = World {
                detect: Some(wanted),
                ..world(options, noise, rounds, 0.0)
            };
            let slower = World {
                row_slower: wanted,
                ..same
            };
            let pairs = same.rows().saturating_sub(1).max(1);
            let told = |world| Told::of(world, options.trials, options.seed);
            let (same, slower) = (told(&same), told(&slower));
            let each = |sum: u32| f64::from(sum) / f64::from(options.trials);
            println!(
                "| {} | {rounds} | {:.1} | {:.1} | {} | {} | {} | {} |",
                noise.help(),
                each(same.rounds),
                f64::from(same.forecast) / f64::from(same.forecasts.max(1)),
                share(same.reached, options.trials),
                share(same.campaigns_different, options.trials),
                share(same.means_covered, same.means),
                share(slower.pairs_different, options.trials * pairs as u32),
            );
        }
    }
}

/// Two campaigns: how often the later is refused.
fn gate(options: &Options) {
    println!(
        "\n| noise | rounds | identical, refused | machine 6 % faster and a row 3 % slower, refused \
         | 5 % | 8 % |"
    );
    println!("|---|---|---|---|---|---|");
    for &noise in &options.noises {
        for &rounds in &options.rounds {
            let world = world(options, noise, rounds, 0.0);
            let refused = |slower: f64, machine: f64| {
                let gate = Gate { slower, machine };
                share(
                    gate.refused(&world, options.trials, options.seed),
                    options.trials,
                )
            };
            println!(
                "| {} | {rounds} | {} | {} | {} | {} |",
                noise.help(),
                refused(0.0, 0.0),
                refused(0.03, -0.06),
                refused(0.05, -0.06),
                refused(0.08, -0.06),
            );
        }
    }
}

fn share(part: u32, whole: u32) -> String {
    match whole {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * f64::from(part) / f64::from(whole)),
    }
}

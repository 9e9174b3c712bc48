//! Which shard a job is, and which workloads are in it.

use super::*;

/// Names and values that are set.
type Variables<'a> = &'a [(&'a str, &'a str)];

fn part(text: &str, set: Variables) -> Result<(u32, u32), String> {
    let shard: Shard = text.parse()?;
    let variable = |name: &str| {
        let value = set.iter().find(|(other, _)| *other == name);
        value.map(|(_, value)| (*value).to_owned())
    };
    let part = shard.part(variable).map_err(|error| error.to_string())?;
    Ok((part.index, part.count))
}

/// The variables of a task of a Slurm array.
fn array<'a>(id: &'a str, range: [&'a str; 4]) -> [(&'a str, &'a str); 5] {
    let [first, last, step, count] = range;
    [
        ("SLURM_ARRAY_TASK_ID", id),
        ("SLURM_ARRAY_TASK_MIN", first),
        ("SLURM_ARRAY_TASK_MAX", last),
        ("SLURM_ARRAY_TASK_STEP", step),
        ("SLURM_ARRAY_TASK_COUNT", count),
    ]
}

#[test]
fn a_shard_is_said_or_refused() {
    assert_eq!(part("1/1", &[]), Ok((1, 1)));
    assert_eq!(part("3/4", &[]), Ok((3, 4)));
    let wrong = [
        "",
        "/",
        "1",
        "0/2",
        "3/2",
        "1/0",
        "-1/2",
        "+1/2",
        "1/2/3",
        " 1/2",
        "1/",
        "/2",
        "auto/",
        "auto/0",
        "Auto",
        "1/4294967296",
    ];
    for wrong in wrong {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn a_scheduler_says_which() {
    let tasks = [
        (array("0", ["0", "3", "1", "4"]), (1, 4)),
        (array("3", ["0", "3", "1", "4"]), (4, 4)),
        (array("5", ["1", "5", "2", "3"]), (3, 3)),
        (array("7", ["7", "7", "1", "1"]), (1, 1)),
    ];
    for (set, expected) in tasks {
        assert_eq!(part("auto", &set), Ok(expected), "{set:?}");
    }
    assert_eq!(part("auto/4", &tasks[0].0), Ok((1, 4)));
    assert_eq!(part("2/3", &tasks[0].0), Ok((2, 3)));
    assert_eq!(part("auto/2", &[("JOB_COMPLETION_INDEX", "1")]), Ok((2, 2)));
    assert_eq!(part("auto/2", &[("PARALLEL_SEQ", "1")]), Ok((1, 2)));
}

#[test]
fn a_scheduler_that_does_not_say_is_named() {
    let kubernetes = ("JOB_COMPLETION_INDEX", "1");
    let parallel = ("PARALLEL_SEQ", "1");
    let cases: &[(&str, Variables, &str)] = &[
        ("auto", &[], "none of"),
        ("auto", &[kubernetes], "Kubernetes does not say how many"),
        ("auto", &[parallel], "GNU parallel does not say how many"),
        ("auto/1", &[kubernetes], "numbers this job 1, from 0"),
        ("auto/1", &[("PARALLEL_SEQ", "0")], "numbers this job 0"),
        ("auto/2", &[kubernetes, parallel], "more than one of"),
        ("auto/2", &[("PARALLEL_SEQ", "x")], "`x`, no number"),
        ("auto", &array("2", ["1", "9", "1", "3"]), "without gaps"),
        ("auto", &array("2", ["1", "5", "2", "3"]), "without gaps"),
        ("auto", &array("0", ["1", "3", "1", "3"]), "without gaps"),
        ("auto", &array("9", ["1", "3", "1", "3"]), "without gaps"),
        ("auto/2", &array("1", ["1", "3", "1", "3"]), "has 3 tasks"),
        ("auto", &array("1", ["1", "3", "1", "3"])[..1], "is not set"),
        (
            "auto",
            &array("4294967295", ["0", "4294967295", "1", "0"])[..],
            "without gaps",
        ),
    ];
    for (text, set, expected) in cases {
        let error = part(text, set).unwrap_err();
        assert!(error.contains(expected), "{text} {set:?}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn each_workload_is_in_one_shard_and_shards_are_as_long_as_each_other() {
    for all in 1..40_usize {
        for count in 1..=all as u32 {
            let parts = (1..=count).filter_map(|index| Part::new(index, count));
            let parts: Vec<Part> = parts.collect();
            for place in 0..all {
                assert_eq!(parts.iter().filter(|part| part.has(place)).count(), 1);
            }
            let lengths = parts.iter();
            let lengths = lengths.map(|part| (0..all).filter(|place| part.has(*place)).count());
            let lengths: Vec<usize> = lengths.collect();
            let (least, most) = (lengths.iter().min(), lengths.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{all}/{count}");
        }
    }
}

#[test]
fn anchors_are_apart_and_leave_each_shard_one_of_its_own() {
    assert_eq!(anchor_places(30, 3), [5, 15, 25]);
    assert_eq!(anchor_places(3, 1), [1]);
    for all in 1..40_usize {
        for anchors in 0..=all {
            let places = anchor_places(all, anchors);
            assert!(
                places.windows(2).all(|pair| pair[0] < pair[1]),
                "{places:?}"
            );
            assert!(places.iter().all(|place| *place < all), "{places:?}");
        }
    }
    let of = |all, count, request| {
        let part = Part::new(1, count).unwrap();
        anchor_count(all, part, request, "s").map_err(|error| error.to_string())
    };
    assert_eq!(of(30, 4, None), Ok(3));
    assert_eq!(of(5, 4, None), Ok(1));
    assert_eq!(of(30, 4, Some(0)), Ok(0));
    assert_eq!(of(30, 4, Some(26)), Ok(26));
    let error = of(30, 4, Some(27)).unwrap_err();
    assert!(
        error.contains("--anchors 27: s has 30 workloads"),
        "{error}"
    );
    let error = of(3, 4, None).unwrap_err();
    assert!(error.contains("s has 3 workloads, at least one"), "{error}");
}

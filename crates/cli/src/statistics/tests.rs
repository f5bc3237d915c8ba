use fastrand::Rng;

use super::*;

/// About normal: the sum of twelve.
fn normal(rng: &mut Rng) -> f64 {
    (0..12).map(|_| rng.f64()).sum::<f64>() - 6.0
}

/// Batches of a ratio of `mean`, which depend on the batch before by this part.
fn parts(mean: f64, correlation: f64, rng: &mut Rng) -> Parts {
    let mut last = normal(rng);
    let part = |_| {
        last = correlation * last + (1.0 - correlation * correlation).sqrt() * normal(rng);
        let denominator = 50.0 + 100.0 * rng.f64();
        (denominator * mean * (1.0 + 0.1 * last), denominator)
    };
    (0..MAX_BATCHES).map(part).collect()
}

#[test]
fn intervals_have_the_true_change_in_95_percent() {
    let mut rng = Rng::with_seed(7);
    for (correlation, range) in [(0.0, 935..=985), (0.3, 925..=985), (0.6, 890..=985)] {
        for is_relative in [false, true] {
            let covered = (0..1_000).filter(|_| {
                let (before, after) = (
                    parts(2.0, correlation, &mut rng),
                    parts(3.0, correlation, &mut rng),
                );
                let (change, truth) = match is_relative {
                    true => (Change::relative(&before, &after), 1.5_f64.ln()),
                    false => (Change::absolute(&before, &after), 1.0),
                };
                let (low, high) = change.expect("enough").interval(0.95);
                (low..=high).contains(&truth)
            });
            let covered = covered.count();
            println!("{correlation} {is_relative}: {covered} of 1000");
            assert!(range.contains(&covered), "{correlation}: {covered} of 1000");
        }
    }
}

#[test]
fn too_little_has_no_interval() {
    let one = vec![(2.0, 1.0); MIN_BATCHES];
    assert_eq!(Change::absolute(&one, &one[1..]), None);
    assert_eq!(Change::absolute(&one, &[(0.0, 0.0); 9]), None);
    let none = vec![(0.0, 1.0); MIN_BATCHES];
    assert_eq!(Change::relative(&one, &none), None, "zero has no logarithm");
    let change = Change::absolute(&one, &none).expect("a change");
    assert_eq!(change.interval(0.999), (-2.0, -2.0), "what never varies");
    let third: Parts = (1..20).map(|n| (f64::from(n), f64::from(3 * n))).collect();
    let tenth: Parts = (1..20).map(|n| (f64::from(n), f64::from(10 * n))).collect();
    let change = Change::absolute(&third, &tenth).expect("a change");
    assert_eq!(change.variance, 0.0, "not by rounding");
}

#[test]
fn batches_of_nothing_do_not_count() {
    let of = |parts: &[(f64, f64)]| Change::absolute(parts, parts).expect("a change");
    let full = [
        (1.0, 2.0),
        (3.0, 2.0),
        (2.0, 2.0),
        (2.0, 2.0),
        (1.0, 2.0),
        (3.0, 2.0),
    ];
    let none = (0.0, 0.0);
    let mut around = vec![none; 20];
    around[7..13].copy_from_slice(&full);
    assert_eq!(of(&around), of(&full), "the same neighbours");
    assert_eq!(effective_batches(&around), 6.0);
    let apart: Vec<_> = full.iter().flat_map(|part| [*part, none]).collect();
    // The residuals before are (-1, 1, 0, 0, -1, 1) / 12. Those apart have no neighbour.
    assert_eq!(Side::new(&full).expect("enough").products, -2.0 / 144.0);
    assert_eq!(Side::new(&apart).expect("enough").products, 0.0);
    assert_eq!(Change::absolute(&apart, &apart[2..]), None, "five batches");

    let mut uneven = full;
    uneven[2] = (1_000.0, 1_000.0);
    assert!(effective_batches(&uneven) < 1.1);
    assert_eq!(effective_batches(&[none; 9]), 0.0);
}

#[test]
fn the_usual_change_is_subtracted_and_its_variation_widens_the_interval() {
    let change = |difference| Change {
        difference,
        variance: 1.0,
        degrees: 1e3,
    };
    let constant = |difference| Change {
        variance: 0.0,
        ..change(difference)
    };
    assert_eq!(change(5.0).beyond(&[], 3.0), change(5.0));
    let beyond = change(5.0).beyond(&[change(1.0), change(3.0)], 1.0);
    assert_eq!((beyond.difference, beyond.variance), (3.0, 1.5));
    let beyond = change(5.0).beyond(&[change(1.0), change(3.0)], 2.0);
    assert_eq!((beyond.difference, beyond.variance), (3.0, 3.0));

    // Rows that are the same in all calls of a window, but not on all days: a variance of 2 and half of it.
    let days = [constant(1.0), constant(3.0)];
    let beyond = constant(9.0).beyond(&days, 5.0);
    assert_eq!((beyond.difference, beyond.variance), (7.0, 3.0));
    assert_eq!(beyond.degrees, 1.0);
    let beyond = constant(9.0).beyond(&[constant(2.0), constant(2.0)], 5.0);
    assert_eq!(beyond.interval(0.999), (7.0, 7.0), "never different");

    let of = |days: &[Vec<Change>]| dispersion(days.iter().map(|days| &days[..]));
    // Squares of 9 + 9 and 1 + 1, with one degree of freedom each.
    let varying = [
        vec![change(0.0), change(6.0)],
        vec![change(1.0), change(3.0)],
        vec![change(9.0)],
    ];
    assert_eq!(of(&varying), 10.0);
    let mut all = varying.to_vec();
    all.push(vec![constant(0.0), constant(0.0)]);
    all.push(vec![constant(8.0), change(0.0)]);
    all[0].push(constant(90.0));
    assert_eq!(of(&all), 10.0, "those that never vary cannot say");
    assert_eq!(of(&[vec![change(1.0), change(1.0)]]), 1.0, "at least 1");
    assert_eq!(of(&[vec![change(9.0)]]), 1.0, "one day");
    assert_eq!((simultaneous(0.05, 5), simultaneous(0.05, 0)), (0.99, 0.95));
}

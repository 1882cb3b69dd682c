//! Recommendations to many users at once: LinUCB (Li, Chu, Langford and Schapire 2010) with one linear model for each user.
//!
//! In every round each user is shown one of some articles with known features x. The user's model estimates the reward as θᵀx, from
//!
//! ```text
//! A = I + Σ x xᵀ,     b = Σ r x,     A θ = b,     width of the estimate: √(xᵀ A⁻¹ x) = ‖L⁻¹ x‖
//! ```
//!
//! over the articles shown so far and their rewards r, and takes the article with the largest θᵀx + α ‖L⁻¹ x‖. A round is three calls for
//! all users: `solve_in_place` for θ, `solve_l_in_place` for the widths of all articles, and `update` with the articles taken.
//!
//! Run with `cargo run --release --example linucb [users]`. At the end every estimate is checked against factoring A again.

use cholupdate::{BatchMut, BatchRef, CholeskyBatch, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::{Duration, Instant};

/// Features of an article, and articles a round.
const FEATURES: usize = 16;
const ARTICLES: usize = 4;
const ROUNDS: usize = 100;
/// α: how much an uncertain article is preferred.
const OPTIMISM: f64 = 0.3;
/// Standard deviation of rewards, about.
const NOISE: f64 = 0.1;

fn main() -> Result<(), Error> {
    let users = std::env::args().nth(1).map_or(2000, |users| users.parse().expect("a number of users"));
    let random = &mut StdRng::seed_from_u64(1);
    let mut uniform = |len: usize| -> Vec<f64> { (0..len).map(|_| random.random_range(-1.0..1.0)).collect() };
    let preferences = uniform(users * FEATURES);

    // A and b of all users: A for the check alone.
    let mut a = vec![0.0; users * FEATURES * FEATURES];
    for user in 0..users {
        (0..FEATURES).for_each(|i| a[(user * FEATURES + i) * FEATURES + i] = 1.0);
    }
    let mut b = vec![0.0; users * FEATURES];
    let squares = [users, FEATURES, FEATURES];
    let mut models = CholeskyBatch::new(BatchRef::by_rows(&a, squares)?)?;

    let mut theta = b.clone();
    let (mut regret, mut of_chance, mut time) = (Vec::new(), 0.0, Duration::ZERO);
    for _ in 0..ROUNDS {
        // The features of the articles of each user, a column for each.
        let articles = uniform(users * FEATURES * ARTICLES);
        let feature =
            |user: usize, i: usize, article: usize| articles[(user * FEATURES + i) * ARTICLES + article];
        let mut widths = articles.clone();

        let start = Instant::now();
        theta.copy_from_slice(&b);
        models.solve_in_place(BatchMut::by_rows(&mut theta, [users, FEATURES, 1])?)?;
        models.solve_l_in_place(BatchMut::by_rows(&mut widths, [users, FEATURES, ARTICLES])?)?;
        time += start.elapsed();

        let mut shown = vec![0.0; users * FEATURES];
        let mut lost = 0.0;
        for user in 0..users {
            let own = user * FEATURES..(user + 1) * FEATURES;
            let reward = |model: &[f64], article| -> f64 {
                model.iter().enumerate().map(|(i, x)| x * feature(user, i, article)).sum()
            };
            let width = |article: usize| -> f64 {
                own.clone().map(|row| widths[row * ARTICLES + article].powi(2)).sum::<f64>().sqrt()
            };
            let bound = |article: usize| reward(&theta[own.clone()], article) + OPTIMISM * width(article);
            let taken = (0..ARTICLES).max_by(|&x, &y| bound(x).total_cmp(&bound(y))).unwrap_or(0);
            let rewards: Vec<f64> =
                (0..ARTICLES).map(|article| reward(&preferences[own.clone()], article)).collect();
            let best = rewards.iter().copied().fold(f64::MIN, f64::max);
            lost += best - rewards[taken];
            of_chance += best - rewards.iter().sum::<f64>() / ARTICLES as f64;

            let noise = NOISE * ((user * 7919) as f64 + rewards[taken] * 1e6).sin();
            for i in 0..FEATURES {
                let x = feature(user, i, taken);
                shown[own.start + i] = x;
                b[own.start + i] += (rewards[taken] + noise) * x;
                (0..FEATURES).for_each(|j| a[(own.start + i) * FEATURES + j] += x * feature(user, j, taken));
            }
        }
        regret.push(lost / users as f64);

        let start = Instant::now();
        let outcome = models.update(BatchRef::by_rows(&shown, [users, FEATURES, 1])?)?;
        time += start.elapsed();
        assert!(outcome.failed().is_empty(), "an update by finite features is always possible");
    }

    let start = Instant::now();
    let again = CholeskyBatch::new(BatchRef::by_rows(&a, squares)?)?;
    let factoring = start.elapsed();
    let mut expected = b.clone();
    theta.copy_from_slice(&b);
    models.solve_in_place(BatchMut::by_rows(&mut theta, [users, FEATURES, 1])?)?;
    again.solve_in_place(BatchMut::by_rows(&mut expected, [users, FEATURES, 1])?)?;
    let apart = theta.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);

    println!("{users} users, {FEATURES} features, {ROUNDS} rounds of {ARTICLES} articles");
    println!(
        "a round takes {:.2} ms for the models: {:.0} ns a user; factoring again would take {:.2} ms more",
        time.as_secs_f64() * 1e3 / ROUNDS as f64,
        time.as_secs_f64() * 1e9 / (ROUNDS * users) as f64,
        factoring.as_secs_f64() * 1e3
    );
    let (first, last) = (regret[0], regret[ROUNDS - 1]);
    println!(
        "regret a round: {first:.3} in the first, {last:.3} in the last, {:.3} by chance",
        of_chance / (ROUNDS * users) as f64
    );
    println!("the estimates differ from those of factoring again by {apart:.1e}");
    assert!(apart < 1e-11 && last < first / 4.0, "the estimates are right, and of use");
    Ok(())
}

//! The primitives with rayon, whose tasks run to completion: they are compared with tasklets and
//! `weft::invoke`.
//!
//!     peer_rayon [--streams=N] [--samples=N]
//!
//! Prints one sample per line on stdout, as bench/run.py reads them:
//! {"name": "PRIMITIVE:SUBJECT", "value": NANOSECONDS}.

use std::hint::black_box;
use std::time::Instant;

use rayon::prelude::*;

extern "C" {
    fn sched_getaffinity(pid: i32, bytes: usize, mask: *mut u64) -> i32;
    fn sched_setaffinity(pid: i32, bytes: usize, mask: *const u64) -> i32;
}

/// Binds the calling thread to the last CPU that it may use, as the other programs do.
fn pin() {
    let mut mask = [0u64; 16];
    let bytes = std::mem::size_of_val(&mask);
    // SAFETY: the masks have the given size.
    unsafe {
        assert!(sched_getaffinity(0, bytes, mask.as_mut_ptr()) == 0, "sched_getaffinity");
        let word = mask.iter().rposition(|&word| word != 0).expect("a CPU");
        let mut last = [0u64; 16];
        last[word] = 1 << (63 - mask[word].leading_zeros());
        assert!(sched_setaffinity(0, bytes, last.as_ptr()) == 0, "sched_setaffinity");
    }
}

fn flag(name: &str, otherwise: usize) -> usize {
    let prefix = format!("--{name}=");
    std::env::args().find_map(|argument| argument.strip_prefix(&prefix).map(|value| value.parse().expect("a number"))).unwrap_or(otherwise)
}

/// Times f() `samples` times; each sample is the time of one of the `operations` that f() makes.
fn sample(name: &str, samples: usize, operations: usize, mut f: impl FnMut()) {
    f();
    for _ in 0..samples {
        let begin = Instant::now();
        f();
        println!("{{\"name\": \"{name}\", \"value\": {}}}", begin.elapsed().as_nanos() as f64 / operations as f64);
    }
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return n.into();
    }
    let (one, other) = rayon::join(|| fib(n - 1), || fib(n - 2));
    one + other
}

/// Like bench::compute in algorithms.hpp.
fn compute(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x = black_box(x ^ (x >> 29));
    }
    x
}

#[inline(never)]
fn nothing() {
    black_box(());
}

fn spawn_and_wait(count: usize) {
    rayon::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|_| nothing());
        }
    });
}

fn on_one_stream(samples: usize) {
    const TOGETHER: usize = 20_000;
    sample("spawn_join/one:rayon.scope", samples, TOGETHER, || (0..TOGETHER).for_each(|_| spawn_and_wait(1)));
    for count in [64, 256, 4096, 262_144] {
        let rounds = (TOGETHER / count).max(1);
        sample(&format!("spawn_join/{count}:rayon.scope"), samples, rounds * count, || (0..rounds).for_each(|_| spawn_and_wait(count)));
    }
    const TASKS: usize = 512_000;
    const ROW: usize = 128;
    for (name, rounds) in [("0.2us", 128), ("0.5us", 320), ("1us", 640)] {
        sample(&format!("busy/{name}:rayon.scope"), samples, 1, || {
            for _ in 0..TASKS / ROW {
                rayon::scope(|scope| (0..ROW).for_each(|_| scope.spawn(|_| { black_box(compute(1, rounds)); })));
            }
        });
    }
}

fn main() {
    let streams = flag("streams", 1);
    let samples = flag("samples", 21);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(streams).build().expect("threads");
    pool.install(|| {
        if streams == 1 {
            pin();
            on_one_stream(samples);
        }
        for n in [35, 20] {
            sample(&format!("fib/{n}:rayon.join.{streams}"), samples, 1, || { black_box(fib(black_box(n))); });
        }
        const MANY: usize = 10_000_000;
        let mut cells = vec![1u32; MANY];
        sample("loop/10Mx1ns:rayon", samples, 1, || cells.par_iter_mut().for_each(|cell| *cell = compute((*cell).into(), 1) as u32));
        let numbers: Vec<u32> = (0..MANY as u64).map(|i| compute(i, 3) as u32).collect();
        sample("reduce/10M:rayon", samples, 1, || { black_box(numbers.par_iter().copied().reduce(|| 0, u32::wrapping_add)); });
    });
}

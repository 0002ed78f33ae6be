// SPDX-License-Identifier: Apache-2.0
// A generic function, a method of a trait, a closure.
mod shop {
    pub trait Weigh {
        fn weigh(&self, n: u64) -> u64;
    }
    pub struct Sack(pub u64);
    impl Weigh for Sack {
        #[inline(never)]
        fn weigh(&self, n: u64) -> u64 {
            (0..n).fold(self.0, |a, b| std::hint::black_box(a.wrapping_mul(31) ^ b))
        }
    }
    #[inline(never)]
    pub fn weigh_all<T: Weigh>(all: &[T], n: u64) -> u64 {
        all.iter().map(|s| s.weigh(n)).fold(0, |a, b| a ^ b)
    }
}

fn main() {
    let sacks = [shop::Sack(3), shop::Sack(5)];
    let mut sum = 0u64;
    for i in 0..std::hint::black_box(600u64) {
        sum ^= shop::weigh_all(&sacks, 200_000 + i);
    }
    println!("{}", sum);
}

//! Random numbers from the operating system; in a simulation, from its seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cell::RefCell;
use std::io;

thread_local! {
    static SEEDED: RefCell<Option<Xoshiro256PlusPlus>> = const { RefCell::new(None) };
}

/// Random bits that nobody can guess: for identities, and for seeds.
pub fn bits() -> io::Result<u128> {
    let seeded = |seeded: &RefCell<Option<Xoshiro256PlusPlus>>| {
        let mut seeded = seeded.borrow_mut();
        let random = seeded.as_mut()?;
        Some(u128::from(random.next_u64()) << 64 | u128::from(random.next_u64()))
    };
    if let Some(bits) = SEEDED.with(seeded) {
        return Ok(bits);
    }
    let mut bytes = [0; 16];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(u128::from_le_bytes(bytes))
}

/// For simulations alone: from now on, what this thread draws follows from the seed, and anybody
/// can guess it.
pub fn seed_this_thread(seed: u64) {
    SEEDED.with(|seeded| *seeded.borrow_mut() = Some(Xoshiro256PlusPlus::seed_from_u64(seed)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_a_seed_draws_the_same_again_and_others_do_not() {
        let draw = |seed| {
            let drawn = std::thread::spawn(move || {
                seed_this_thread(seed);
                (bits().unwrap(), bits().unwrap())
            });
            drawn.join().unwrap()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert_ne!(bits().unwrap(), bits().unwrap());
    }
}

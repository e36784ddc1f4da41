//! Zeros ahead of the log: a preallocated file has its room, but to make something last that is
//! written there for the first time, a file system has to note that, too: a second write, and a
//! thread that waits for it. So now and then zeros are written behind a frame, with it: what
//! follows for a while goes where something was before.

/// So many zeros.
const STRIDE: u64 = 128 << 10;

/// How far a segment was ever written to.
#[derive(Debug, Default)]
pub struct Ahead {
    until: u64,
}

impl Ahead {
    /// Lets zeros follow a frame that goes beyond what was written to. The segment has this length.
    pub fn extend(&mut self, frame: &mut Vec<u8>, at: u64, length: u64) {
        let end = at + frame.len() as u64;
        if end > self.until {
            self.until = (end + STRIDE).min(length).max(end);
            frame.resize((self.until - at) as usize, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_follow_once_in_a_while_and_never_beyond_the_segment() {
        let length = 3 * STRIDE;
        let mut ahead = Ahead::default();
        let mut written = |at, frame: usize| {
            let mut bytes = vec![7; frame];
            ahead.extend(&mut bytes, at, length);
            assert!(bytes[..frame].iter().all(|byte| *byte == 7));
            assert!(bytes[frame..].iter().all(|byte| *byte == 0));
            bytes.len() as u64
        };
        assert_eq!(written(64, 100), 100 + STRIDE);
        assert_eq!(written(164, 200), 200, "zeros are there");
        assert_eq!(written(364, STRIDE as usize), 2 * STRIDE);
        assert_eq!(written(364 + STRIDE, 100), 100);
        assert_eq!(written(length - 96, 64), 96, "up to its end");
        assert_eq!(written(length - 32, 32), 32);
    }
}

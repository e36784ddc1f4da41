//! Labels beside the ends of curves: none on top of another, each near its curve.

/// Labels that stand together, beside one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Where its curves end.
    pub at: i32,
    /// How tall it is.
    pub height: i32,
}

/// The top of each block, in their order from top to bottom: near where they belong, without
/// overlap, between these bounds as far as there is room.
pub fn tops(blocks: &[Block], gap: i32, bounds: (i32, i32)) -> Vec<i32> {
    let mut tops = Vec::with_capacity(blocks.len());
    let mut free = bounds.0;
    for block in blocks {
        let top = (block.at - block.height / 2).max(free);
        tops.push(top);
        free = top + block.height + gap;
    }
    let mut floor = bounds.1;
    for (top, block) in tops.iter_mut().zip(blocks).rev() {
        *top = (*top).min(floor - block.height);
        floor = *top - gap;
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_make_room_for_each_other() {
        let block = |at| Block { at, height: 10 };
        assert_eq!(tops(&[block(50), block(90)], 2, (0, 100)), [45, 85]);
        assert_eq!(tops(&[block(50), block(51)], 2, (0, 100)), [45, 57]);
        assert_eq!(tops(&[block(98), block(99)], 2, (0, 100)), [78, 90]);
        assert_eq!(tops(&[block(0), block(1)], 2, (0, 100)), [0, 12]);
    }
}

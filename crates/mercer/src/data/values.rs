//! The values of dense points: a vector of their own, or a slice that a caller lends for the time of a call.

use std::ops::Deref;

use crate::num::Lent;

/// Values, row by row.
#[derive(Debug)]
pub(super) enum Values<T: 'static> {
    Own(Vec<T>),
    Lent(Lent<T>),
}

impl<T> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match self {
            Values::Own(values) => values,
            Values::Lent(values) => values,
        }
    }
}

// A copy is the copy's own: what is kept, such as the centres of a model, must not hold what was lent.
impl<T: Clone> Clone for Values<T> {
    fn clone(&self) -> Self {
        Values::Own(self.to_vec())
    }
}

impl<T: PartialEq> PartialEq for Values<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T> From<Vec<T>> for Values<T> {
    fn from(values: Vec<T>) -> Self {
        Values::Own(values)
    }
}

#[cfg(test)]
mod tests {
    use crate::data::{Data, Points};
    use crate::num::lend;

    #[test]
    fn lent_points_are_the_rows_themselves_and_copies_of_them_are_their_own() {
        let rows = [0.5, 1.0, 1.5, 2.0];
        let single = rows.map(|v| v as f32);
        let own = Points::dense(rows.to_vec(), 2).expect("two rows");
        let own_single = Points::dense_f32(single.to_vec(), 2).expect("two rows");
        let place = |points: &Points| match points.view().data {
            Data::F64(x) => x.as_ptr() as usize,
            Data::F32(x) => x.as_ptr() as usize,
            _ => 0,
        };
        let kept = lend(&rows, |lent| {
            let points = Points::lent(lent, 2).expect("two rows");
            assert_eq!((place(&points), &points), (rows.as_ptr() as usize, &own));
            [points.clone(), points.gather(&[0, 1]), points.to_dense().expect("numbers")]
        });
        kept.iter().for_each(|copy| assert!(*copy == own && place(copy) != rows.as_ptr() as usize));
        let kept = lend(&single, |lent| {
            let points = Points::lent_f32(lent, 2).expect("two rows");
            assert_eq!((place(&points), &points), (single.as_ptr() as usize, &own_single));
            let both = points.concat(&points).expect("one kind");
            (points.clone(), both.gather(&[2, 3]))
        });
        assert!(kept.0 == own_single && kept.1 == own_single);
        assert!(lend(&rows[..3], |lent| Points::lent(lent, 2).is_err()));
    }
}

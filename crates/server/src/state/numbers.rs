//! The numbers that AUTO_INCREMENT gives within a statement, as InnoDB does with innodb_autoinc_lock_mode = 2.
//!
//! A statement reserves numbers in intervals. The first interval of a VALUES list has a number for each listed row;
//! those of a SELECT have 1, 2, 4 and so on. What is reserved is used up, whatever becomes of the rows. Within an
//! interval a row that finds a duplicate, and is ignored or updates it, leaves its number to the next row.

/// The largest interval that MySQL reserves at once (`AUTO_INC_DEFAULT_NB_MAX`).
const MAX_INTERVAL: u64 = 65_535;

/// What is reserved.
#[derive(Debug, Clone, Copy)]
struct Reserved {
    /// The first number that is not reserved: the next statement's.
    end: u64,
    /// The next number of the interval; 0 before the first one.
    next: u64,
    /// The end of the interval.
    interval_end: u64,
    intervals: u32,
    /// Rows that the reservation was made for, and that are still to come.
    rows_left: u64,
}

/// The number of the row whose values were computed last.
#[derive(Debug, Clone, Copy)]
enum Row {
    None,
    Generated(u64),
    Given(i64),
}

/// The numbers of one statement.
#[derive(Debug, Clone)]
pub struct Numbers {
    listed_rows: u64,
    first: u64,
    reserved: Reserved,
    /// The same before the last row.
    before: Reserved,
    row: Row,
    /// The first number that was generated for a row that was inserted.
    pub first_generated: Option<i64>,
    /// The number of the row that ON DUPLICATE KEY UPDATE has changed last.
    pub updated: Option<i64>,
}

impl Numbers {
    /// The numbers of a statement that begins at `first`. `listed_rows` are those of VALUES, 0 for a SELECT's.
    pub fn new(first: u64, listed_rows: u64) -> Self {
        let reserved = Reserved {
            end: first,
            next: 0,
            interval_end: 0,
            intervals: 0,
            rows_left: 0,
        };
        Self {
            listed_rows,
            first,
            reserved,
            before: reserved,
            row: Row::None,
            first_generated: None,
            updated: None,
        }
    }

    /// Begins again, for a statement that runs a second time: it gets the same numbers.
    pub fn restart(&mut self) {
        *self = Self::new(self.first, self.listed_rows);
    }

    /// The number of the next row, which gives one itself or lets it be generated. `None`: there are no more.
    pub fn of_row(&mut self, given: Option<i64>) -> Option<i64> {
        self.settle();
        // The row before is done.
        self.reserved.rows_left = self.reserved.rows_left.saturating_sub(1);
        self.before = self.reserved;
        if let Some(given) = given {
            self.row = Row::Given(given);
            return Some(given);
        }
        let own = &mut self.reserved;
        if own.next == 0 || own.next >= own.interval_end {
            let count = match own.intervals {
                _ if own.rows_left > 0 => own.rows_left,
                0 if self.listed_rows > 0 => self.listed_rows,
                n => MAX_INTERVAL.min(1 << n.min(16)),
            };
            own.rows_left = count;
            own.next = own.end;
            own.end = own.end.saturating_add(count);
            own.interval_end = own.end;
            own.intervals += 1;
        }
        let number = own.next;
        own.next += 1;
        self.row = Row::Generated(number);
        i64::try_from(number).ok()
    }

    /// The last row is not inserted, because it is a duplicate that the statement ignores or updates.
    pub fn give_back(&mut self) {
        if let Row::Generated(number) = self.row {
            self.reserved.next = number;
        }
        self.row = Row::None;
    }

    /// The first number after the statement, which has succeeded.
    pub fn end(&mut self) -> u64 {
        self.settle();
        self.reserved.end
    }

    /// The first number after the statement, which has failed. `inserted` is the number of the row that it has
    /// inserted last, 0 for none. A duplicate uses up its number; MySQL finds any other error before it generates
    /// one.
    pub fn end_of_failed(&mut self, is_duplicate: bool, inserted: i64) -> u64 {
        match self.row {
            Row::Given(given) if given == inserted => self.settle(),
            Row::Generated(number) if !is_duplicate && number != inserted.unsigned_abs() => {
                self.reserved = self.before;
            }
            _ => {}
        }
        self.reserved.end
    }

    /// The last row was inserted. A number that it gave is the last one if it is the largest.
    fn settle(&mut self) {
        let given = match std::mem::replace(&mut self.row, Row::None) {
            Row::Given(given) => given,
            Row::Generated(number) => {
                let number = i64::try_from(number).ok();
                self.first_generated = self.first_generated.or(number);
                return;
            }
            Row::None => return,
        };
        let after = u64::try_from(given).map_or(0, |given| given + 1);
        self.reserved.end = self.reserved.end.max(after);
        if self.reserved.next > 0 {
            self.reserved.next = self.reserved.next.max(after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Numbers;

    fn generated(numbers: &mut Numbers, rows: usize) -> Vec<i64> {
        (0..rows).filter_map(|_| numbers.of_row(None)).collect()
    }

    #[test]
    fn a_list_reserves_a_number_for_each_row_and_a_select_ever_larger_intervals() {
        let mut list = Numbers::new(7, 3);
        assert_eq!(generated(&mut list, 2), [7, 8]);
        assert_eq!(list.end_of_failed(true, 7), 10);
        let mut select = Numbers::new(23, 0);
        assert_eq!(generated(&mut select, 5), [23, 24, 25, 26, 27]);
        assert_eq!(select.end(), 30);
    }

    #[test]
    fn a_duplicate_that_is_ignored_leaves_its_number_to_the_next_row() {
        let mut numbers = Numbers::new(52, 0);
        assert_eq!(numbers.of_row(None), Some(52));
        numbers.give_back();
        assert_eq!(generated(&mut numbers, 2), [52, 53]);
        numbers.give_back();
        assert_eq!(numbers.of_row(None), Some(53));
        assert_eq!(numbers.end(), 55);
        assert_eq!(numbers.first_generated, Some(52));
    }

    #[test]
    fn a_given_number_is_the_last_one_if_its_row_is_inserted() {
        let mut numbers = Numbers::new(36, 4);
        let ids = [None, Some(500), None, Some(-1), None];
        let ids: Vec<_> = ids
            .into_iter()
            .filter_map(|id| numbers.of_row(id))
            .collect();
        assert_eq!(ids, [36, 500, 501, -1, 502]);
        assert_eq!(numbers.end(), 503);
        let mut rest = Numbers::new(53, 3);
        let ids = [None, Some(60), None];
        let ids: Vec<_> = ids.into_iter().filter_map(|id| rest.of_row(id)).collect();
        assert_eq!(ids, [53, 60, 61]);
        assert_eq!(rest.end(), 62);
        let mut refused = Numbers::new(36, 1);
        assert_eq!(refused.of_row(Some(600)), Some(600));
        assert_eq!(refused.end_of_failed(true, 0), 36);
    }

    #[test]
    fn a_value_that_is_refused_uses_up_no_number_unless_a_row_before_has_reserved_it() {
        let mut first = Numbers::new(10, 3);
        first.of_row(None);
        assert_eq!(first.end_of_failed(false, 0), 10);
        let mut second = Numbers::new(10, 3);
        generated(&mut second, 2);
        assert_eq!(second.end_of_failed(false, 10), 13);
    }
}

//! Filters with a binary search decide like those that seccompiler makes of the same rules.

use proptest::prelude::*;
use seccompiler::SeccompCmpOp::Eq;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, TargetArch};

use super::super::search::{self, Rules};
use super::{NATIVE, OF_32_BITS, returned, rules};

/// Calls with numbers, some of which match only with a certain first argument.
fn rules_on() -> impl Strategy<Value = Rules> {
    let conditions = proptest::collection::vec(0..3_u32, 0..4);
    proptest::collection::btree_map(0..500_i64, conditions, 0..200).prop_map(|calls| {
        let mut on = Rules::new();
        for (call, arguments) in calls {
            on.insert(call, Vec::new());
            for argument in arguments {
                rules::when(&mut on, call, vec![rules::int(0, Eq, argument).unwrap()]).unwrap();
            }
        }
        on
    })
}

proptest! {
    #[test]
    fn decide_as_a_comparison_with_each_number(on in rules_on()) {
        let (otherwise, matching) = (SeccompAction::Errno(1), SeccompAction::Allow);
        let searching = search::filter(on.clone(), &otherwise, &matching).unwrap();
        let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let comparing = SeccompFilter::new(on, otherwise, matching, architecture).unwrap();
        let comparing = BpfProgram::try_from(comparing).unwrap();
        for number in (0..502).chain([i64::from(i32::MAX), i64::from(u32::MAX)]) {
            for (architecture, argument) in [(NATIVE, 0), (NATIVE, 1), (NATIVE, 3), (OF_32_BITS, 0)] {
                let decides = |filter| returned(filter, architecture, (number, &[argument]));
                prop_assert_eq!(decides(&searching), decides(&comparing), "{} {}", number, argument);
            }
        }
    }
}

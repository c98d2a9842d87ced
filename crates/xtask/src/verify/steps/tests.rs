use anyhow::bail;

use super::Steps;

#[test]
fn a_failure_is_kept_and_the_run_goes_on() {
    let mut steps = Steps::default();
    steps.check("good", || Ok("3 tests".to_owned()));
    let nothing = steps.run::<u32>("bad", || bail!("first line\nsecond line"));
    assert_eq!(nothing, None, "a failed step leaves nothing");
    let value = steps.run("after", || Ok((7, String::new())));
    assert_eq!(value, Some(7), "the next step ran");
    let table = steps.table();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 3, "one row a step: {table}");
    assert!(
        rows[0].starts_with("good   passed") && rows[0].ends_with("3 tests"),
        "{}",
        rows[0]
    );
    assert!(
        rows[1].starts_with("bad    FAILED") && rows[1].ends_with("first line"),
        "{}",
        rows[1]
    );
    let errors = steps.errors();
    assert_eq!(
        errors, "\n==> bad FAILED\nfirst line\nsecond line\n",
        "whole errors of failed steps alone"
    );
}

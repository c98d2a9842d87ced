use super::*;

#[test]
fn messages_of_built_crates_have_their_names() {
    let built = r#"{"reason":"compiler-artifact","target":{"name":"ash","kind":["lib"]}}"#;
    let other = r#"{"reason":"build-script-executed","target":{"name":"ash"}}"#;
    assert_eq!(built_crate(built).as_deref(), Some("ash"));
    assert_eq!(built_crate(other), None);
    assert_eq!(built_crate("warning: text"), None);
}

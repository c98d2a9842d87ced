use super::{Source, sources_of_release};

fn source(uri: &str, suites: &[&str]) -> Source {
    Source {
        uri: uri.to_owned(),
        suites: suites.iter().map(|suite| (*suite).to_owned()).collect(),
        components: vec!["main".to_owned()],
        signed_by: None,
    }
}

#[test]
fn only_the_suites_of_the_release_are_kept() {
    let sources = [
        source(
            "http://m.example/debian",
            &["bookworm", "bookworm-updates", "bookworm-backports"],
        ),
        source("http://m.example/security", &["bookworm-security"]),
        source("http://other.example", &["nodistro"]),
        source("http://m.example/debian", &["bookworm-like-thing"]),
    ];
    let own = sources_of_release(&sources, "bookworm");
    let suites: Vec<_> = own.iter().flat_map(|(_, suites)| suites.clone()).collect();
    assert_eq!(
        suites,
        ["bookworm", "bookworm-updates", "bookworm-security"],
        "its own and no others"
    );
}
